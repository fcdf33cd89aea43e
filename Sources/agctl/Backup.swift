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
        // The daemon's program knows the store's format. Its status becomes that of this command.
        let program = Child.neighbour("agd")
        let words = [program, "--backup", file, "--state-directory", stateDirectory]
        var strings = words.map { strdup($0) } + [nil]
        execvp(program, &strings)
        let reason = String(cString: strerror(errno))
        for string in strings { free(string) }
        throw Complaint(.system, "\(program): \(reason)", hint: "install agd on this machine; it copies the store")
    }
}
