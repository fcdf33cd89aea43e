import AGClient
import ArgumentParser
import AttributeValues
import Glibc
import WireProtocol

struct TransactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transact",
        abstract: "Commit several changes together, all or none.",
        discussion: """
            Each argument is a change, and so is each line of --file or standard input: set PATH VALUE, toggle PATH, \
            add PATH VALUE, append PATH VALUE, insert PATH INDEX VALUE, remove PATH, merge PATH VALUE, test PATH VALUE. \
            The value is the rest of the line; in an argument it may have several lines. \
            JSON as the protocol has it works as well. A test that does not hold ends with status 75, and nothing has changed.

            Examples:
              agctl transact 'set /player.position 0' 'toggle /player.isPlaying' --animation spring
              agctl transact 'test /lock.owner null' 'set /lock.owner "me"'
              agctl transact 'append /app.items {"id": "y"}' 'remove /app.items[id="x"]'
              agctl transact '[{"op": "add", "path": "/counter.value", "value": 1}]'
              generate-changes | agctl transact --file -
            """)

    @Argument(help: ArgumentHelp("Changes; without any, those of --file or standard input.", valueName: "change"))
    var changes: [String] = []

    @Option(name: .shortAndLong, help: "A file of changes; - is standard input.", completion: .file())
    var file: String?

    @OptionGroup var valueOptions: ValueOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if file != nil, !changes.isEmpty { throw ValidationError("changes come from --file or from the arguments, not both") }
        if file == nil, changes.isEmpty, isatty(0) == 1 { throw ValidationError("no changes: \(MutationText.syntax)") }
    }

    func run() throws {
        let mutations = try mutations()
        guard !mutations.isEmpty else { throw Complaint(.data, "no changes: \(MutationText.syntax)") }
        try perform(common) { session in
            do throws(ClientError) {
                try session.commit(mutations, write.writing(typed: valueOptions.typed))
            } catch {
                var complaint = Complaint(error)
                if error.failure?.code == .conflict { complaint.status = .tryAgain }
                throw complaint
            }
        }
    }

    private func mutations() throws(Complaint) -> [Mutation] {
        guard !changes.isEmpty else {
            let name = file ?? "-"
            return try MutationText.read(try InputText.read(name), valueOptions.form, name: InputText.title(of: name))
        }
        var mutations: [Mutation] = []
        for (position, change) in changes.enumerated() {
            mutations += try MutationText.readArgument(NegativeNumbers.reveal(change), valueOptions.form, name: "change \(position + 1)")
        }
        return mutations
    }
}
