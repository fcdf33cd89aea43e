import AttributeValues
import WireProtocol

/// agctl without a verb, and the table of verbs. To add a verb, write its file and add its type here.
struct Agctl: Verb {
    static let verbs: [any Verb.Type] = [
        GetCommand.self, ListCommand.self, SetCommand.self, ToggleCommand.self, AddCommand.self, DoCommand.self,
        TransactCommand.self,
        FeedCommand.self,
        WatchCommand.self, DashCommand.self, WhenCommand.self,
        ApplyCommand.self, ExportCommand.self, DiffCommand.self, EditCommand.self, CheckCommand.self,
        RemoveCommand.self, MoveCommand.self, TreeCommand.self, DescribeCommand.self, ExplainCommand.self,
        HistoryCommand.self, DumpCommand.self, StatsCommand.self, TopCommand.self, TraceCommand.self, PruneCommand.self,
        BackupCommand.self, DoctorCommand.self, SitesCommand.self, PingCommand.self, CallCommand.self,
        ContextsCommand.self, EvalCommand.self, CurveCommand.self,
    ]

    static let help = VerbHelp(
        name: "agctl", summary: "Read, change and watch the attribute graph that agd hosts.",
        discussion: """
            Examples:
              agctl get /player.isPlaying
              agctl set /player.isPlaying true --animation 'easeInOut(duration: 1)'
              agctl watch '/host/**'
              agctl apply -f scene.yaml

            The daemon's socket is --socket, else that of --context, else $AGD_SOCKET, else that of $AGD_CONTEXT, else \
            the first of $XDG_RUNTIME_DIR/agd/agd.sock and /run/agd/agd.sock that exists.

            Exit status: 0 done; 1 diff, doctor or sites found something; 2 the attribute holds an error; 64 wrong \
            usage; 65 refused, or wrong data; 66 no such path or file; 69 the daemon cannot be reached or does not \
            answer in time; 70 its answer cannot be understood; 71 and 74 the system failed; 75 try again (a test \
            failed, or a limit was exceeded); 77 denied.
            """)

    static var helpText: String { HelpText.ofAgctl }

    @Option("--generate-completion-script", help: ArgumentHelp("A script for bash, zsh or fish.", valueName: "shell"))
    var shell: String?

    @Flag("--dump-help", help: "The help as JSON.") var dumpsHelp = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if shell == nil, !dumpsHelp { throw Complaint(.usage, "a verb is missing") }
    }

    func run() throws {
        guard let shell else { throw RequestedText(HelpText.json.jsonText + "\n") }
        guard let script = Offer.script(for: shell) else {
            throw Complaint(.usage, "there is no script for '\(shell)'", hint: "shells are bash, zsh and fish")
        }
        throw RequestedText(script)
    }
}
