import AttributeValues

public struct SceneFile {
    /// The path, as it was given or from the folder of the file that imports it.
    public var path: String
    public var text: String

    package init(path: String, text: String) { (self.path, self.text) = (path, text) }
}

/// `import: lib/gauges.yaml`: the files that a scene needs. They are loaded before it.
public enum SceneImports {
    /// A file and all files that it imports, each once. A file comes after its imports. Other faults in the files are
    /// left to those who read them.
    /// - Parameter read: reads a file.
    /// - Throws: `SceneFaults` for files that import each other in a circle, that cannot be read, or that are too many;
    ///   what `read` throws for the first file.
    public static func collect(_ path: String, read: (String) throws -> String) throws -> [SceneFile] {
        var found: [SceneFile] = []
        var done: Set<Name> = []
        var open = [OpenFile(SceneFile(path: path, text: try read(path)))]
        while var top = open.popLast() {
            guard let node = top.imports.popFirst() else {
                done.insert(top.file.path)
                found.append(top.file)
                continue
            }
            open.append(top)
            let next = resolve(node.text, from: top.file.path)
            if done.contains(next) { continue }
            if let first = open.firstIndex(where: { $0.file.path.hasSameBytes(as: next) }) {
                let way = open[first...].map(\.file.path) + [next]
                throw top.fault(.conflict, "files import each other: \(way.joined(separator: " → "))", at: node)
            }
            guard open.count + done.count < SceneLimits.imports else {
                throw top.fault(.limit, "a scene imports at most \(SceneLimits.imports) files", at: node)
            }
            let text: String
            do { text = try read(next) } catch {
                throw top.fault(.notFound, "'\(node.text)' cannot be imported: \(error)", at: node)
            }
            open.append(OpenFile(SceneFile(path: next, text: text)))
        }
        return found
    }

    /// Combines a scene and its imports into one document. A later entry replaces an earlier one with the same name.
    /// - Throws: the faults that make a file unreadable.
    public static func bundle(_ files: [SceneFile]) throws(SceneFaults) -> Value {
        var bundle = ValueMap([("agd", .int(SceneLimits.formatVersion))])
        for file in files {
            guard let document = try SceneReader.value(text: file.text, file: file.path).map else { continue }
            for case (.string(let key), let value) in document where key != "agd" && key != "import" {
                bundle[key] = merged(bundle[key], value, depth: key == "keys" ? 2 : 1)
            }
        }
        return .map(bundle)
    }

    private static func merged(_ old: Value?, _ new: Value, depth: Int) -> Value {
        switch (old, new) {
        case (.list(let old)?, .list(let new)): return .list(old + new)
        case (.map(var old)?, .map(let new)) where depth > 0:
            for (key, value) in new { old[key] = merged(old[key], value, depth: depth - 1) }
            return .map(old)
        default: return new
        }
    }

    /// The imports of a document as they are written.
    static func paths(in document: DocumentNode) -> [DocumentNode] {
        guard let written = document["import"], !written.isNull else { return [] }
        return written.list ?? [written]
    }

    /// Resolves a path that a file names, relative to the folder of that file.
    package static func resolve(_ name: String, from file: String) -> String {
        if name.hasPrefix("/") { return name }
        var parts = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().map(String.init)
        for part in name.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, !last.isEmpty, last != ".." {
                parts.removeLast()
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    private struct OpenFile {
        let file: SceneFile
        /// Imports that have not been read yet.
        var imports: ArraySlice<DocumentNode> = []

        init(_ file: SceneFile) {
            self.file = file
            // Most scenes import nothing, and are read once.
            guard file.text.containsBytes(of: "import"),
                let document = DocumentReader.read(file.text, FaultCollector())
            else { return }
            imports = SceneImports.paths(in: document).filter { $0.string != nil }[...]
        }

        func fault(_ code: ErrorCode, _ message: String, at node: DocumentNode) -> any Error {
            let lines = SourceLines(file.text)
            return SceneFaults(
                [SceneFault(code, message, position: node.position)], omitted: 0, file: file.path, lines: lines)
        }
    }
}
