import ArgumentParser
import AttributeValues
import WireProtocol

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add to a number, a duration or a timestamp.",
        discussion: """
            Reads and writes in one step, so that no other client's change is lost in between.

            Examples:
              agctl add /counter.value 1
              agctl add /player.position -15 --animation snappy
              agctl add /alarm.time 10m
            """)

    @Argument(help: "Where.")
    var path: String

    @Argument(help: "How much.")
    var amount: String

    @OptionGroup var valueOptions: ValueOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let amount = try valueOptions.form.read(NegativeNumbers.reveal(amount))
        try perform(common) { try Self.perform(path, amount, write.writing(typed: valueOptions.typed), $0) }
    }

    static func perform(_ path: String, _ amount: Value, _ writing: Writing, _ session: Session) throws {
        try session.commit([Mutation(operation: .add, path: path, value: amount)], writing)
    }
}
