import CommandArguments
import Glibc

struct BackupCommand: Verb {
    static let help = VerbHelp(
        name: "backup", summary: "Copy the daemon's store into one file, while the daemon runs.",
        discussion: """
            The file is a complete store: definitions, values of durable states, and revisions, as of one commit. It \
            needs the rights of the daemon's user or root. 'agctl export' needs less rights and writes a scene.

            To restore it, stop agd, copy the file to state.db in the state directory with the daemon's user as its \
            owner, remove state.db-wal, and start agd.

            Examples:
              agctl backup /var/backups/agd.db
              agctl backup agd.db --state-directory ~/.local/state/agd
            """)

    @Argument(help: "The file to write; an existing file is replaced.", completion: .files)
    var file: String

    @Option(help: ArgumentHelp("The folder of the store.", valueName: "dir"), completion: .folders)
    var stateDirectory = "/var/lib/agd"

    func run() throws {
        let store = stateDirectory + "/state.db"
        guard access(store, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR else {
            throw Complaint(
                .notFound, "there is no store in \(stateDirectory)",
                hint: "--state-directory names the folder of another store; a daemon without the setting "
                    + "state-directory has none, and 'agctl export' writes its tree as a scene")
        }
        // The daemon's program knows the store's format. Its status becomes that of this command.
        let (code, text) = Child.captureOutput(Child.neighbour("agd"), arguments)
        let lines = text.lines.map { $0.hasPrefix("agd: ") ? String($0.dropFirst(5)) : $0 }
        let said = lines.joined(separator: "\n").trimmed
        switch code {
        case 0:
            let status = Front.tell(said + "\n")
            if status != 0 { throw EndOfCommand(code: status) }
        case 127: throw Complaint(.system, "the program agd is not installed", hint: "agd copies the store: install it")
        default:
            throw Complaint(
                ExitStatus(rawValue: code) ?? .system, said,
                hint: code == ExitStatus.denied.rawValue ? "run it as root, or as the daemon's user" : nil)
        }
    }

    private var arguments: [String] { ["--backup", file, "--state-directory", stateDirectory] }
}
