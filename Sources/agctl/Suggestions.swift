import AGClient
import AttributeValues
import CommandArguments
import Timelines
import WireProtocol

/// The words that shells offer for an incomplete argument. Names in the graph are read from the daemon. Problems are
/// silent: the shell then offers nothing.
enum Suggestions {
    /// Seconds to wait for the daemon. Longer waits would look like a terminal that hangs.
    private static let patience = 1.0

    /// The kinds of names to suggest.
    enum Wanted {
        case nodes, places, actions, recorded

        /// True if an attribute (an answer of `describe`) should be suggested.
        func accepts(_ attribute: Value) -> Bool {
            switch self {
            case .nodes: false
            case .places: true
            case .actions: attribute.map?["kind"]?.string == "action"
            case .recorded: attribute.map?["history"] != nil
            }
        }
    }

    static let places = Offer.words { suggestPaths($0, prefix: $1, to: .places) }
    static let nodes = Offer.words { suggestPaths($0, prefix: $1, to: .nodes) }
    static let actions = Offer.words { suggestPaths($0, prefix: $1, to: .actions) }
    static let recorded = Offer.words { suggestPaths($0, prefix: $1, to: .recorded) }
    static let actionArguments = Offer.words { words, prefix in
        guard let action = words.first(where: { $0.hasPrefix("/") }), let connection = connection(for: words) else {
            return []
        }
        return (try? connection.call(.describe(path: action, depth: 0))).map {
            suggestArguments(of: $0, prefix: prefix)
        } ?? []
    }
    static let methods = Offer.words { methodNames(prefix: $1) }
    static let subjects = Offer.words {
        $1.hasPrefix("/") ? suggestPaths($0, prefix: $1, to: .places) : methodNames(prefix: $1)
    }
    static let curves = Offer.words { curveNames(prefix: $1) }
    static let contexts = Offer.words { _, prefix in
        ((try? Contexts())?.entries ?? []).map(\.name).filter { $0.hasPrefix(prefix) }
    }

    private static func methodNames(prefix: String) -> [String] {
        Method.table().map(\.name).filter { $0.hasPrefix(prefix) }.sorted()
    }

    static func curveNames(prefix: String) -> [String] { Animation.curveNames.filter { $0.hasPrefix(prefix) } }

    private static func connection(for words: [String]) -> Connection? {
        let location = try? Contexts.location(
            socket: value(of: "--socket", in: words), context: value(of: "--context", in: words))
        return location.flatMap { try? Connection(to: $0, name: "agctl", timeout: patience) }
    }

    private static func suggestPaths(_ words: [String], prefix: String, to wanted: Wanted) -> [String] {
        guard let connection = connection(for: words) else { return [] }
        return suggestPaths(prefix, to: wanted) { path in try? connection.call(.describe(path: path, depth: 1)) }
    }

    /// The names of an action's parameters, each with a trailing `=`.
    static func suggestArguments(of action: Value, prefix: String) -> [String] {
        let parameters = action.map?["value"]?.map?["parameters"]?.map ?? ValueMap()
        return parameters.keys.compactMap(\.string).map { $0 + "=" }.filter { $0.hasPrefix(prefix) }
    }

    private static func value(of option: String, in words: [String]) -> String? {
        words.firstIndex(of: option).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
    }

    /// The paths that begin with a prefix, one name longer than its last complete name. A single node is suggested with
    /// everything in it, so that the shell does not take it for a complete path. If only some attributes are wanted,
    /// the node itself is not suggested.
    /// - Parameter describe: returns a node with its children.
    static func suggestPaths(_ prefix: String, to wanted: Wanted, describe: (String) -> Value?) -> [String] {
        let prefix = prefix.isEmpty ? "/" : prefix
        guard prefix.hasPrefix("/"), let end = lastSeparator(of: prefix) else { return [] }
        let parent = end == prefix.startIndex ? "/" : String(prefix[..<end])
        guard let node = describe(parent)?.map else { return [] }
        if prefix[end] == "." { return attributes(of: node, at: parent, wanted).filter { $0.hasPrefix(prefix) } }
        let children = (node["children"]?.list ?? []).compactMap(\.map)
        let found = children.compactMap { child -> (path: String, node: ValueMap)? in
            guard let path = child["path"]?.string, path.utf8.starts(with: prefix.utf8) else { return nil }
            return (path, child)
        }
        var offered = found.map(\.path)
        if found.count == 1, let only = found.first {
            var inside = attributes(of: only.node, at: only.path, wanted)
            if case .int(let count)? = only.node["childCount"], count > 0 { inside.append(only.path + "/") }
            let isPlace = wanted == .nodes || wanted == .places
            offered = isPlace || inside.isEmpty ? offered + inside : inside
        }
        if wanted == .places, prefix == "/" { offered.append("/.") }
        return offered
    }

    private static func attributes(of node: ValueMap, at path: String, _ wanted: Wanted) -> [String] {
        (node["attributes"]?.map ?? ValueMap()).compactMap { name, attribute in
            guard let name = name.string, wanted.accepts(attribute) else { return nil }
            return "\(path).\(AttributePath.quoteIfNeeded(name))"
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
