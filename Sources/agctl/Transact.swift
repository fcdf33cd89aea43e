import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct TransactCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "transact", summary: "Commit several mutations together, all or none.",
        discussion: """
            Each argument is a mutation, and so is each line of --file or standard input: set PATH VALUE, toggle PATH, \
            add PATH VALUE, append PATH VALUE, insert PATH INDEX VALUE, remove PATH, merge PATH VALUE, test PATH \
            VALUE. The value is the rest of the line; in an argument it may have several lines. Mutations may also be \
            JSON, as in the protocol. If a test fails, nothing changes, and the status is 75.

            Examples:
              agctl transact 'set /player.position 0' 'toggle /player.isPlaying'
              agctl transact 'add /a.x 5' 'add /a.y 5' --animation spring
              agctl transact 'test /lock.owner null' 'set /lock.owner "me"'
              agctl transact 'append /app.items {"id": "y"}' 'remove /app.items[id="x"]'
              agctl transact '[{"op": "add", "path": "/counter.value", "value": 1}]'
              generate-mutations | agctl transact --file -
            """)

    @Argument(help: ArgumentHelp("Mutations; without any, those of --file or standard input.", valueName: "mutation"))
    var mutations: [String] = []

    @Option(short: "-f", help: "A file of mutations; - is standard input.", completion: .files)
    var file: String?

    @OptionGroup var valueOptions: ValueOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var repetition: RepetitionOptions
    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if file != nil, !mutations.isEmpty {
            throw UsageError("mutations come from --file or from the arguments, not both")
        }
        if file == nil, mutations.isEmpty, isatty(0) == 1 {
            throw UsageError("no mutations: \(MutationText.syntax)")
        }
    }

    func run(_ session: Session) throws {
        let mutations = try readMutations()
        guard !mutations.isEmpty else { throw Complaint(.data, "no mutations: \(MutationText.syntax)") }
        do throws(ClientError) {
            try session.commit(mutations, write.makeOptions(typed: valueOptions.typed, once: repetition.once))
        } catch {
            var complaint = Complaint(error)
            if error.failure?.code == .conflict { complaint.status = .tryAgain }
            if let faulty = mutations.first(where: { Name($0.path) == error.failure?.path.map { Name($0) } })?.value {
                complaint = complaint.explaining(faulty)
            }
            throw complaint
        }
    }

    private func readMutations() throws(Complaint) -> [Mutation] {
        guard !mutations.isEmpty else {
            let name = file ?? "-"
            return try MutationText.read(try InputText.read(name), valueOptions.form, name: InputText.title(of: name))
        }
        var read: [Mutation] = []
        for text in mutations {
            read += try MutationText.readArgument(text, valueOptions.form, behind: read.count)
        }
        return read
    }
}
