import AGClient
import ArgumentParser
import AttributeValues
import Glibc
import Timelines
import WireProtocol

/// The words that shells offer for an incomplete argument. Names in the graph are read from the daemon. Problems are
/// silent: the shell then offers nothing.
enum Suggestions {
    /// Seconds to wait for the daemon. Longer waits would look like a terminal that hangs.
    private static let patience = 1.0

    static let places = CompletionKind.custom { paths($0, prefix: $2, includingAttributes: true) }
    static let nodes = CompletionKind.custom { paths($0, prefix: $2, includingAttributes: false) }
    static let methods = CompletionKind.custom { _, _, _ in Method.table().map(\.name).sorted() }
    static let subjects = CompletionKind.custom {
        $2.hasPrefix("/") ? paths($0, prefix: $2, includingAttributes: true) : Method.table().map(\.name).sorted()
    }
    static let curves = CompletionKind.custom { _, _, _ in Animation.curveNames }

    static func contexts(_ words: [String], _ position: Int, _ prefix: String) -> [String] {
        ((try? Contexts())?.entries ?? []).map(\.name)
    }

    private static func paths(_ words: [String], prefix: String, includingAttributes: Bool) -> [String] {
        let location = try? Contexts.location(
            socket: value(of: "--socket", in: words), context: value(of: "--context", in: words))
        guard let location, let connection = try? Connection(to: location, name: "agctl", timeout: patience) else {
            return []
        }
        return paths(prefix, includingAttributes: includingAttributes) { path in
            try? connection.call(.describe(path: path, depth: 1))
        }
    }

    private static func value(of option: String, in words: [String]) -> String? {
        words.firstIndex(of: option).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
    }

    /// The paths that begin with a prefix, one name longer than its last complete name. A node that is the only one is
    /// offered with all that is in it. So the shell does not take it for a complete path.
    /// - Parameter describe: returns a node with its children.
    static func paths(_ prefix: String, includingAttributes: Bool, describe: (String) -> Value?) -> [String] {
        let prefix = prefix.isEmpty ? "/" : prefix
        guard prefix.hasPrefix("/"), let end = lastSeparator(of: prefix) else { return [] }
        let parent = end == prefix.startIndex ? "/" : String(prefix[..<end])
        guard let node = describe(parent)?.map else { return [] }
        if prefix[end] == "." {
            return includingAttributes ? attributes(of: node, at: parent).filter { $0.hasPrefix(prefix) } : []
        }
        let children = (node["children"]?.list ?? []).compactMap(\.map)
        let found = children.compactMap { child -> (path: String, node: ValueMap)? in
            guard let path = child["path"]?.string, path.hasPrefix(prefix) else { return nil }
            return (path, child)
        }
        var offered = found.map(\.path)
        if found.count == 1, let only = found.first {
            if includingAttributes { offered += attributes(of: only.node, at: only.path) }
            if case .int(let count)? = only.node["childCount"], count > 0 { offered.append(only.path + "/") }
        }
        if includingAttributes, prefix == "/" { offered.append("/.") }
        return offered
    }

    private static func attributes(of node: ValueMap, at path: String) -> [String] {
        (node["attributes"]?.map?.keys ?? []).compactMap(\.string).map {
            "\(path).\(AttributePath.quoteIfNeeded($0))"
        }
    }

    /// The position of the last `/` or `.` outside of quotes.
    private static func lastSeparator(of path: String) -> String.Index? {
        var isQuoted = false
        var last: String.Index?
        for position in path.indices {
            if path[position] == "\"" { isQuoted.toggle() }
            if !isQuoted, path[position] == "/" || path[position] == "." { last = position }
        }
        return last
    }
}
