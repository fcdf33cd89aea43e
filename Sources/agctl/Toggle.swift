import AGClient
import CommandArguments
import WireProtocol

struct ToggleCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "toggle", summary: "Flip bools.",
        discussion: """
            Several paths are flipped together, in one transaction.

            Examples:
              agctl toggle /player.isPlaying
              agctl toggle /player.isPlaying --animation spring
              agctl toggle /lamps/hall.isOn /lamps/stairs.isOn
              agctl toggle --all '/lamps/*.isOn'
            """)

    @Argument(
        help: ArgumentHelp("Attributes, or parts of values, of the type bool.", valueName: "path"),
        completion: Suggestions.places)
    var paths: [String]

    @OptionGroup var all: PatternOption
    @OptionGroup var write: WriteOptions
    @OptionGroup var repetition: RepetitionOptions
    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let paths = all.isSet ? try session.attributes(matching: paths) : paths
        let mutations = paths.map { Mutation(operation: .toggle, path: $0) }
        do throws(ClientError) {
            try session.commit(mutations, write.makeOptions(once: repetition.once))
        } catch { throw Complaint(error).explaining(pattern: paths) }
    }
}
