import AttributeValues
import CommandArguments

struct ContextsCommand: Verb {
    static let help = VerbHelp(
        name: "contexts", summary: "List the names of daemons for --context.",
        discussion: """
            A context is a line NAME = SOCKET in ~/.config/agd/contexts ($XDG_CONFIG_HOME/agd/contexts) or \
            /etc/agd/contexts. In a pipe, each line has a name, a tab and the socket.

            Examples:
              agctl contexts
              agctl --context web-01 get /host.status
              export AGD_CONTEXT=web-01
            """)

    @Flag(help: "Write JSON: an object of names and sockets.")
    var json = false

    @OptionGroup var coloring: ColorOption

    func run() throws {
        let entries = try Contexts().entries
        let output = Output(color: coloring.color)
        try output.flushing {
            if json { return output.json(.map(ValueMap(entries.map { (.string($0.name), .string($0.socket)) }))) }
            guard output.isTerminal else {
                for entry in entries { output.writeLine("\(entry.name)\t\(entry.socket)") }
                return
            }
            let rows = entries.map { [output.style.bold($0.name), $0.socket, output.style.dim($0.file)] }
            output.write(TextTable(rows: rows).text())
        }
    }
}
