import AttributeValues
import CommandArguments
import WireProtocol

/// agctl without a verb, and the table of verbs. To add a verb, write its file and add its type here.
struct Agctl: ProgramWithVerbs {
    static let verbs: [any Verb.Type] = [
        GetCommand.self, ListCommand.self, SetCommand.self, ToggleCommand.self, AddCommand.self, DoCommand.self,
        TransactCommand.self,
        FeedCommand.self,
        WatchCommand.self, DashCommand.self, WhenCommand.self,
        ApplyCommand.self, ExportCommand.self, DiffCommand.self, EditCommand.self, CheckCommand.self,
        TestCommand.self, LspCommand.self,
        RemoveCommand.self, MoveCommand.self, RestoreCommand.self, LayersCommand.self, TreeCommand.self,
        DescribeCommand.self, ExplainCommand.self, LogCommand.self, UndoCommand.self,
        HistoryCommand.self, DumpCommand.self, StatsCommand.self, TopCommand.self, TraceCommand.self, PruneCommand.self,
        BackupCommand.self, DoctorCommand.self, SitesCommand.self, AlertsCommand.self, PingCommand.self,
        CallCommand.self,
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

            Exit status: 0 done; 1 diff, doctor, sites or alerts found something, or a test fails; 2 the attribute has \
            an error, or a test file has faults; 64 wrong \
            usage; 65 refused, or wrong data; 66 no such path or file; 69 the daemon cannot be reached or does not \
            answer in time; 70 its answer cannot be understood; 71 and 74 the system failed; 75 try again (a test \
            failed, or a limit was exceeded); 77 denied.
            """)

    static let otherNames = [
        "get": ["read", "print", "value"], "set": ["write", "update", "assign"],
        "toggle": ["flip", "invert", "switch"], "do": ["run", "perform", "action", "press", "trigger"],
        "add": ["inc", "incr", "increment", "plus", "dec", "decr"], "remove": ["delete", "del", "unset", "destroy"],
        "move": ["rename", "reorder"], "watch": ["subscribe", "monitor", "follow", "tail", "listen", "observe"],
        "apply": ["load", "create", "import", "install"], "export": ["save"], "check": ["validate", "lint", "verify"],
        "describe": ["show", "inspect"], "explain": ["why", "blame"], "history": ["chart", "plot", "past"],
        "tree": ["nodes"],
        "stats": ["info", "status", "metrics", "counters"], "ping": ["hello", "alive", "version"], "call": ["rpc"],
        "transact": ["batch", "commit", "append", "insert", "merge"],
        "test": ["try", "simulate"],
    ]

    @Option("--generate-completion-script", help: ArgumentHelp("A script for bash, zsh or fish.", valueName: "shell"))
    var shell: String?

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        guard let shell else { throw UsageError("a verb is missing") }
        if script == nil {
            throw UsageError("there is no script for '\(shell)'", hint: "shells are bash, zsh and fish")
        }
    }

    private var script: String? { shell.flatMap { Offer.script(for: $0, of: Agctl.help.name) } }

    func run() throws { throw EndOfCommand(code: Front.tell(script ?? "")) }
}
