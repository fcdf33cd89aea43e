import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct SetCommand: ValueCommand {
    static let help = VerbHelp(
        name: "set", summary: "Write a value.",
        discussion: """
            A value that is valid JSON is taken as JSON, any other as text: 5 is a number, true a bool, Hello a string.

            Examples:
              agctl set /player.isPlaying true
              agctl set /player.episode.title 'Some Episode'
              agctl set /app.zip --string 00501
              agctl set /player.position 30 --animation 'easeInOut(duration: 1)'
              agctl set /player.position 30 --label seek
              agctl set /app.items '[{"id": "x", "done": false}]'
              agctl set --all '/lamps/*.isOn' false
              agctl set /app.seen --typed '{"timestamp": {"seconds": "0", "nanos": 0}}'
            """,
        aliases: ["put"])

    static let operation = Mutation.Operation.set
    @OptionGroup var given: WrittenValue
}

protocol ValueCommand: DaemonVerb {
    static var operation: Mutation.Operation { get }
    var given: WrittenValue { get }
}

extension ValueCommand {
    var common: CommonOptions { given.common }

    func run(_ session: Session) throws {
        let value = try given.options.form.read(given.value)
        let options = given.write.makeOptions(typed: given.options.typed, once: given.repetition.once)
        let paths = given.all.isSet ? try session.attributes(matching: [given.path]) : [given.path]
        let mutations = paths.map { Mutation(operation: Self.operation, path: $0, value: value) }
        do throws(ClientError) {
            try session.commit(mutations, options)
        } catch { throw Complaint(error).explaining(value).explaining(pattern: [given.path]) }
    }
}

/// The arguments of such a verb.
struct WrittenValue: Arguments {
    @Argument(help: "The attribute, or a part of its value.", completion: Suggestions.places)
    var path: String

    @Argument(help: "The value, or the amount.")
    var value: String

    @OptionGroup var all: PatternOption
    @OptionGroup var options: ValueOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var repetition: RepetitionOptions
    @OptionGroup var common: CommonOptions
}

/// The option of verbs that change attributes.
struct PatternOption: Arguments {
    @Flag(
        "--all",
        help: "The path is a pattern with * and **: change all attributes that match, in one transaction.")
    var isSet = false
}
