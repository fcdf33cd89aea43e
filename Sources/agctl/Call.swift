import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct CallCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "call", summary: "Call any method of the protocol.",
        discussion: """
            'agctl describe' lists the methods, 'agctl describe METHOD' shows the parameters. The result is JSON.

            Examples:
              agctl call hello
              agctl call get '{"path": "/player.isPlaying"}'
              agctl call eval '["1 + 2"]'
            """)

    @Argument(help: "The method.", completion: Suggestions.methods)
    var method: String

    @Argument(help: ArgumentHelp("An object or a list, as JSON.", valueName: "params"))
    var parameters = "{}"

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let given = try ValueForm.json.read(parameters)
        guard given.map != nil || given.list != nil else { throw Complaint(.data, "params is an object or a list") }
        session.output.json(try session.connection().call(method, given))
    }
}
