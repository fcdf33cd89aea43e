import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct UndoCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "undo", summary: "Take back what a transaction has written.",
        discussion: """
            Writes what was before, in one transaction, if nobody has written the same states since. What reactions \
            have written is not taken back: the reactions run again. It asks agd-past what was written.

            Examples:
              agctl log /room -n 3
              agctl undo 412
              agctl undo 412 --dry-run
            """)

    @Argument(help: ArgumentHelp("The number of a transaction, or EPOCH:REVISION.", valueName: "revision"))
    var revision: String

    @Flag(help: "Print what would be written, and write nothing.")
    var dryRun = false

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        guard case .revision(let number, let epoch) = try PastTime(words: revision), number > 0 else {
            throw Complaint(.usage, "'\(revision)' is no revision", hint: "agctl log lists them")
        }
        let past = try session.past()
        let paths = try writtenPaths(past, number, epoch)
        let after = try values(of: paths, past, .revision(number, epoch: epoch))
        let before = try values(of: paths, past, .revision(number - 1, epoch: epoch))
        var (tests, writes): ([Mutation], [Mutation]) = ([], [])
        for path in paths {
            guard let old = before[path], let new = after[path] else {
                throw Complaint(
                    .data, "\(path) was not there before revision \(number), or is not there any more",
                    hint: "write the other states by hand: agctl log --from \(number) --to \(number)")
            }
            tests.append(Mutation(operation: .test, path: path, value: new))
            writes.append(Mutation(operation: .set, path: path, value: old))
        }
        if dryRun { return tell(writes, after, session) }
        var options = write.makeOptions(typed: true)
        if options.label == nil { options.label = "undo \(number)" }
        do throws(ClientError) { try session.commit(tests + writes, options) } catch {
            guard error.failure?.code == .conflict else { throw Complaint(error) }
            throw conflict(Complaint(error), paths, past, number, epoch)
        }
    }

    /// The states that the client itself has written.
    private func writtenPaths(_ past: Connection, _ number: UInt64, _ epoch: String?) throws -> [String] {
        let moment = PastTime.revision(number, epoch: epoch)
        let log = try past.call(.log(.init(from: moment, to: moment, count: 1))).map ?? ValueMap()
        guard let transaction = log["transactions"]?.list?.first?.map else {
            throw Complaint(
                .notFound, "the archive has no transaction \(number) with writes",
                hint: "of a state that is written more than ten times a second it has not every write")
        }
        if let rows = transaction["structure"]?.list, let row = rows.first?.map {
            let path = row["row"]?.string ?? "/"
            let command = row["gone"] == true ? "agctl restore \(path)" : "agctl remove \(path)"
            throw Complaint(
                .data, "revision \(number) has changed the tree: \(path)",
                hint: "\(command) may take it back; agctl --time \(number - 1) export writes the tree as it was")
        }
        let writes = (transaction["writes"]?.list ?? []).compactMap(\.map).filter { $0["reaction"] != true }
        guard !writes.contains(where: { $0["count"] != nil }) else {
            throw Complaint(.data, "the archive has not every write of revision \(number)")
        }
        let paths = writes.compactMap { $0["path"]?.string }
        guard !paths.isEmpty, transaction["more"] != true else {
            throw Complaint(.data, "revision \(number) has written nothing that can be taken back")
        }
        return paths
    }

    private func values(of paths: [String], _ past: Connection, _ moment: PastTime) throws -> [String: Value] {
        _ = try past.call(.seek(moment))
        let result = try past.call(.get(.init(paths: paths, typed: true))).map ?? ValueMap()
        var values: [String: Value] = [:]
        for path in paths {
            guard let value = result["values"]?.map?[path]?.map?["value"] else { continue }
            values[path] = try Value(typedJSON: value)
        }
        return values
    }

    private func tell(_ writes: [Mutation], _ present: [String: Value], _ session: Session) {
        if session.isJSON {
            let map = ValueMap(writes.map { (.string($0.path), $0.value ?? .null) })
            return session.output.json(.map(map))
        }
        for write in writes {
            let (new, old) = (present[write.path]?.jsonText ?? "?", write.value?.jsonText ?? "?")
            session.output.writeLine("\(write.path.printable)  \(new.printable) → \(old.printable)")
        }
    }

    /// Names who has written since.
    private func conflict(
        _ complaint: Complaint, _ paths: [String], _ past: Connection, _ number: UInt64, _ epoch: String?
    ) -> Complaint {
        var complaint = complaint
        complaint.status = .tryAgain
        let later = Request.Log(patterns: paths, from: .revision(number + 1, epoch: epoch), count: 1)
        guard let log = try? past.call(.log(later)).map, let last = log["transactions"]?.list?.first?.map else {
            return complaint
        }
        let client = last["client"]?.map?["name"]?.string ?? last["client"]?.string ?? "somebody"
        complaint.hint = "\(client) has written since, last in revision \(last["revision"]?.jsonText ?? "?")"
        return complaint
    }
}
