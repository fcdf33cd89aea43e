import AGClient
import AttributeValues
import WireProtocol

extension Session {
    /// Commits mutations as one transaction and prints the revision on a terminal or as JSON.
    func commit(_ mutations: [Mutation], _ options: TransactionOptions) throws(ClientError) {
        let request: Request =
            if mutations.count == 1, mutations[0].operation == .set { .set(mutations[0], options) } else {
                .transact(mutations, options)
            }
        report(revision: try connection().call(request))
    }

    /// The attributes that patterns match now.
    /// - Throws: if there are none.
    func attributes(matching patterns: [String]) throws -> [String] {
        // Their values may be large, and are not needed.
        let paths = try connection().call(.get(.init(paths: patterns))) { result throws(ClientError) in
            var paths: [Value] = []
            result["values"]?.forEachMember { path, _ in paths.append(.string(String(decoding: path, as: UTF8.self))) }
            return .list(paths)
        }
        guard let list = paths.list, !list.isEmpty else {
            throw Complaint(.notFound, "nothing matches \(patterns.joined(separator: " or "))")
        }
        return list.compactMap(\.string)
    }

    /// `{revision}`: printed as JSON on request. Otherwise success prints nothing.
    func report(revision result: Value) {
        if isJSON { output.json(result) }
    }
}

extension Complaint {
    /// A hint how to write the value that was probably meant, if an attribute has another type than the value.
    func explaining(_ value: Value) -> Complaint {
        guard code == ErrorCode.typeMismatch.rawValue, let hint else { return self }
        func isWanted(_ type: String) -> Bool { hint.hasSuffix(" " + type) || hint.hasSuffix(" \(type)?") }
        var complaint = self
        if let text = value.string {
            if isWanted("bool"), let meant = Self.bools[text.lowercased()] {
                complaint.hint = "write \(meant); '\(text)' is a text"
            } else if text.hasPrefix("[") || text.hasPrefix("{"), let fault = JSONFault.find(in: text) {
                complaint.hint =
                    "\(hint): the value is a text, because it is not JSON at \(fault.place): \(fault.message)"
            } else if Double(text.replacing(",", with: ".")) != nil, text.contains(",") {
                complaint.hint = "\(hint): write the decimal comma as a point"
            }
        } else if isWanted("bool"), case .int(let number) = value, number == 0 || number == 1 {
            complaint.hint = "write \(number == 1); \(number) is a number"
        } else if isWanted("string") {
            complaint.hint = "\(hint): to write the text \(value.jsonText), use --string"
        }
        return complaint
    }

    /// A hint how to write several attributes, if a path is a pattern.
    func explaining(pattern paths: [String]) -> Complaint {
        guard code == ErrorCode.invalid.rawValue, paths.contains(where: GetCommand.isPattern) else { return self }
        var complaint = self
        complaint.hint = "\(hint.map { $0 + "; " } ?? "")--all changes all attributes that match"
        return complaint
    }

    /// A hint how to remove several nodes, if a path is a pattern.
    func explaining(removalOf path: String) -> Complaint {
        guard code == ErrorCode.invalid.rawValue, GetCommand.isPattern(path), let pattern = try? PathPattern(path)
        else {
            return self
        }
        var complaint = self
        let ids = pattern.segments.prefix { if case .id = $0 { true } else { false } }
        let parent = AttributePath.describe(nodes: ids.compactMap { if case .id(let id) = $0 { id } else { nil } })
        complaint.hint =
            "\(hint.map { $0 + "; " } ?? "")to remove all nodes in \(parent): agctl list --nodes '\(parent)' "
            + "| xargs -d '\\n' agctl remove"
        return complaint
    }

    private static let bools = ["true": true, "yes": true, "on": true, "false": false, "no": false, "off": false]
}
