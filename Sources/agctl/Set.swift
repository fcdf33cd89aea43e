import AGClient
import ArgumentParser
import AttributeValues
import WireProtocol

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Write a value.",
        discussion: """
            The value is JSON where it is JSON, else text: 5 is a number, true a bool, Hello a string.

            Examples:
              agctl set /player.isPlaying true
              agctl set /player.episode.title 'Some Episode'
              agctl set /app.zip --string 00501
              agctl set /player.position 30 --animation 'easeInOut(duration: 1)'
              agctl set /player.position 30 --label seek
              agctl set /app.items '[{"id": "x", "done": false}]'
              agctl set /app.seen --typed '{"timestamp": {"seconds": "0", "nanos": 0}}'
            """)

    @Argument(help: "Where.")
    var path: String

    @Argument(help: "What.")
    var value: String

    @OptionGroup var valueOptions: ValueOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let value = try valueOptions.form.read(NegativeNumbers.reveal(value))
        try perform(common) { try Self.perform(path, value, write.writing(typed: valueOptions.typed), $0) }
    }

    static func perform(_ path: String, _ value: Value, _ writing: Writing, _ session: Session) throws {
        do throws(ClientError) {
            try session.commit([Mutation(operation: .set, path: path, value: value)], writing)
        } catch {
            throw Complaint(error).explaining(value)
        }
    }
}
