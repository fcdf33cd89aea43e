import AGClient
import AttributeValues
import CommandArguments
import Glibc
import SceneModel
import WireProtocol

struct EditCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "edit", summary: "Open a node in an editor, and apply what was saved.",
        discussion: """
            The node is opened as 'agctl export' writes it, in $VISUAL, $EDITOR or vi. After the editor has ended, \
            changed definitions are merged, changed values of states are set, and children that were deleted are \
            removed, in this order. The daemon checks the whole text before the first of these steps. If it refuses \
            the text, nothing changes, and the text stays in its file.

            Examples:
              agctl edit /player
              EDITOR='code --wait' agctl edit /host
            """)

    @Argument(help: "The node; / is the whole tree.", completion: Suggestions.nodes)
    var path: String

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let options = write.makeOptions()
        let connection = try session.connection()
        guard let before = try connection.call(.dump(path: path, format: .scene)).map?["document"] else {
            throw Complaint(.software, "the daemon sent no document")
        }
        let text = DocumentWriter.yaml(before)
        let file = try EditedFile(text)
        try file.edit()
        let edited = SceneText(text: try InputText.read(file.path), name: file.path)
        guard edited.text != text else {
            file.deleteFile()
            if session.output.isTerminal { session.output.writeLine("nothing to change") }
            return
        }
        let parent = try Self.parent(of: path)
        do { try apply(edited, replacing: before, below: parent, options, session) } catch {
            throw Self.keeping(file, parent, error)
        }
        file.deleteFile()
    }

    private func apply(
        _ edited: SceneText, replacing before: Value, below parent: String, _ options: TransactionOptions,
        _ session: Session
    ) throws {
        let old = SceneContents(before.map ?? ValueMap(), below: parent)
        let new = SceneContents(try edited.document(), below: parent)
        _ = try edited.apply(at: parent, .merge, dryRun: true, options, session)
        let applied = try edited.apply(at: parent, .merge, dryRun: false, options, session)
        let connection = try session.connection()
        let changed = new.states.filter { old.states[$0.key] != $0.value }.sorted { $0.key < $1.key }
        if !changed.isEmpty {
            let sets = changed.map { Mutation(operation: .set, path: $0.key.text, value: $0.value) }
            _ = try connection.call(.transact(sets, options))
        }
        // The children of a removed node are removed with it.
        let removed = old.nodes.filter { path in
            !new.nodes.contains(path)
                && !old.nodes.contains { path.text.utf8.starts(with: ($0.text + "/").utf8) && !new.nodes.contains($0) }
        }
        for node in removed.sorted().texts { _ = try connection.call(.remove(path: node, options)) }
        if session.isJSON { return session.output.json(applied) }
        AppliedText(applied).show(session.output)
        for (path, value) in changed {
            session.output.writeLine("set\t\(path.text.printable)\t\(value.jsonText.printable)")
        }
        for node in removed.sorted().texts { session.output.writeLine("removed\t\(node.printable)") }
    }

    private static func parent(of path: String) throws(Complaint) -> String {
        do throws(Failure) {
            return AttributePath.describe(nodes: Array(try AttributePath(path).nodes.dropLast()))
        } catch { throw Complaint(error, status: .data) }
    }

    /// The error with the path of the text, which must not be lost.
    private static func keeping(_ file: EditedFile, _ parent: String, _ error: any Error) -> any Error {
        guard var complaint = error as? Complaint ?? (error as? ClientError).map({ Complaint($0) }) else {
            return error
        }
        let rest =
            "the text is in \(file.path); correct it and run 'agctl apply --merge --at \(parent) -f \(file.path)'"
        complaint.hint = complaint.hint.map { "\($0)\n        \(rest)" } ?? rest
        return complaint
    }
}

/// The nodes and states in a document, by path.
struct SceneContents {
    private(set) var nodes: Swift.Set<Name> = []
    private(set) var states: [Name: Value] = [:]

    init(_ document: ValueMap, below parent: String) {
        var pending = (document["nodes"]?.list ?? []).map { (node: $0, parent: parent) }
        while let next = pending.popLast() {
            guard let node = next.node.map, let id = node["id"]?.string else { continue }
            let path = SceneText.path(of: id, below: next.parent)
            nodes.insert(path)
            for (name, state) in node["state"]?.map ?? ValueMap() {
                guard let name = name.string else { continue }
                // The long form of a state: { initial: 1h, type: duration }.
                states["\(path).\(AttributePath.quoteIfNeeded(name))"] = state.map?["initial"] ?? state
            }
            pending += (node["children"]?.list ?? []).map { ($0, path) }
        }
        for (path, value) in document["values"]?.map ?? ValueMap() {
            if let path = path.string { states[path] = value }
        }
    }
}

/// A temporary file that the user edits.
private struct EditedFile {
    let path: String

    init(_ text: String) throws(Complaint) {
        let folder = Contexts.temporaryFolder
        var template = Array("\(folder)/agctl-XXXXXX.yaml".utf8CString)
        let descriptor = mkstemps(&template, Int32(".yaml".utf8.count))
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        guard descriptor >= 0 else { throw Complaint(.system, "\(folder): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard Terminal.write(text, to: descriptor) else {
            throw Complaint(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
    }

    func deleteFile() { unlink(path) }

    /// Runs the editor to its end. A shell runs it, because the variable may contain arguments.
    func edit() throws(Complaint) {
        let editor = Contexts.variable("VISUAL") ?? Contexts.variable("EDITOR") ?? "vi"
        let status = try Child.run("/bin/sh", ["-c", "\(editor) \"$1\"", "sh", path])
        guard status == 0 else {
            throw Complaint(
                .system, "the editor '\(editor)' ended with status \(status)", hint: "the text is in \(path)")
        }
    }
}
