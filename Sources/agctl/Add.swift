import CommandArguments
import WireProtocol

struct AddCommand: ValueCommand {
    static let help = VerbHelp(
        name: "add", summary: "Add to a number, a duration or a timestamp.",
        discussion: """
            Reads and writes in one step, so that no other client's change is lost in between.

            Examples:
              agctl add /counter.value 1
              agctl add /player.position -15 --animation snappy
              agctl add /alarm.time 10m
              agctl add --all '/rooms/*.setpoint' 0.5
            """)

    static let operation = Mutation.Operation.add
    @OptionGroup var given: WrittenValue
}
