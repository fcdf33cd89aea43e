import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct DoCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "do", summary: "Call an action.",
        discussion: """
            A node's actions are named writes that its scene defines. What an action writes is committed together, all \
            or none. Arguments are name=value; a value that is valid JSON is taken as JSON, any other as text.

            Examples:
              agctl do /home.allOff
              agctl do /home.allOff room=kitchen
              agctl do /player.louder by=0.25 --animation snappy
            """)

    @Argument(help: "The action.", completion: Suggestions.actions)
    var path: String

    @Argument(help: ArgumentHelp("Its arguments.", valueName: "name=value"), completion: Suggestions.actionArguments)
    var arguments: [String] = []

    @OptionGroup var options: ValueOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var repetition: RepetitionOptions
    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        var given = ValueMap()
        for argument in arguments {
            guard let split = argument.firstIndex(of: "="), split > argument.startIndex else {
                throw Complaint(.usage, "'\(argument)' is no argument", hint: "write name=value")
            }
            let name = String(argument[..<split])
            guard given[name] == nil else { throw Complaint(.usage, "'\(name)' is given twice") }
            given[name] = try options.form.read(String(argument[argument.index(after: split)...]))
        }
        let writing = write.makeOptions(typed: options.typed, once: repetition.once)
        session.report(revision: try session.connection().call(.do(path: RequestPath(path), arguments: given, writing)))
    }
}
