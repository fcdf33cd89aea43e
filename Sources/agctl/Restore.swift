import AGClient
import CommandArguments
import WireProtocol

struct RestoreCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "restore", summary: "Bring back a node of a scene that was removed or moved away.",
        discussion: """
            A node of a scene that a client has removed stays away, over restarts and edits of the scene, too. This \
            brings it back as the scenes have it now, with new values.

            Examples:
              agctl restore /host/disks
            """)

    @Argument(help: ArgumentHelp("The path that the node had.", valueName: "path"))
    var path: String

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        session.report(revision: try session.connection().call(.restore(path: path, write.makeOptions())))
    }
}
