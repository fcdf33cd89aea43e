import AttributeValues

/// Reads YAML or JSON into a tree of document nodes, a given number of steps at a time. Iterative, for deep texts.
package struct DocumentReader {
    private let events: any DocumentEvents
    private let faults: FaultCollector
    /// Number of parts so far. Parts of an alias count at each use.
    private var size = 0
    private var anchors: [String: (node: DocumentNode, size: Int)] = [:]
    /// Incomplete lists and maps, outermost first.
    private var pending: [Pending] = []
    /// The complete document. nil at the end if the text cannot be read; then `faults` has the reason.
    private(set) var document: DocumentNode?

    /// - Returns: nil for a text that is too long.
    init?(_ text: String, _ faults: FaultCollector) {
        guard text.utf8.count <= SceneLimits.textSize else {
            faults.add(.limit, "a document of \(text.utf8.count) bytes; at most \(SceneLimits.textSize) are allowed")
            return nil
        }
        events = JSONEventReader(text) ?? YAMLEventReader(JSONEscapes.joiningSurrogates(text))
        self.faults = faults
    }

    /// Reads a whole text. nil if it cannot be read to its end; then `faults` has the reason.
    package static func read(_ text: String, _ faults: FaultCollector) -> DocumentNode? {
        guard var reader = DocumentReader(text, faults) else { return nil }
        var steps = Int.max
        while !reader.advance(&steps) {}
        return reader.document
    }

    /// Continues until the steps are used up.
    /// - Returns: true at the end.
    mutating func advance(_ steps: inout Int) -> Bool {
        do throws(YAMLError) {
            while steps > 0 {
                let event = try events.next()
                steps -= SceneCost.event + event.text.utf8.count / SceneCost.bytesPerStep
                if try !take(event) { return true }
            }
            return false
        } catch {
            document = nil
            faults.add(
                .invalid, "not YAML: \(error.message)", at: error.position,
                hint: DocumentReader.hint(for: error.message))
            return true
        }
    }

    private static func hint(for message: String) -> String? {
        if message.contains("mapping values are not allowed") || message.contains("did not find expected") {
            return "put quotes around a rule or text that contains ': ', ' #', or begins with [ { * & ! % @ ` \" ', "
                + "or contains , [ ] { } between braces or brackets"
        }
        if message.contains("is not closed") { return "close it, or put quotes around a text that begins with it" }
        if message.contains("cannot start any token") || message.contains("found a tab character") {
            return "indent with spaces, not tabs, and quote texts that begin with @ or `"
        }
        return nil
    }

    /// - Returns: true if there is more to read.
    private mutating func take(_ event: YAMLEvent) throws(YAMLError) -> Bool {
        if !pending.isEmpty { return takePart(event) }
        switch event.kind {
        case .streamStart, .documentStart, .documentEnd: return true
        case .streamEnd:
            if document == nil, faults.isEmpty {
                faults.add(.invalid, "the document is empty", at: SourcePosition(line: 1, column: 1))
            }
            return false
        default:
            guard document == nil else {
                faults.add(
                    .invalid, "there is more than one document in the text", at: event.position,
                    hint: "remove this --- and everything after it")
                return false
            }
            return takePart(event)
        }
    }

    /// An incomplete list or map.
    private struct Pending {
        var node: DocumentNode
        var isMap: Bool
        var anchor: String?
        var sizeBefore: Int
        var elements: [DocumentNode] = []
        var entries: [DocumentEntry] = []
        var key: DocumentNode?

        mutating func add(_ part: DocumentNode) {
            if !isMap {
                elements.append(part)
            } else if let key {
                entries.append(DocumentEntry(key: key, value: part))
                self.key = nil
            } else {
                key = part
            }
        }
    }

    /// Processes one event of the document.
    /// - Returns: false if the document cannot be read.
    private mutating func takePart(_ event: YAMLEvent) -> Bool {
        size += 1
        guard size <= SceneLimits.entries else {
            faults.add(
                .limit, "the document has more than \(SceneLimits.entries) parts", at: event.position,
                hint: "the parts of an anchor count again for each alias")
            return false
        }
        let complete: DocumentNode
        switch event.kind {
        case .scalar:
            complete = scalar(event)
            if let anchor = event.anchor { anchors[anchor] = (complete, 1) }
        case .alias:
            if let (node, count) = anchors[event.text] {
                size += count
                complete = node
            } else {
                faults.add(
                    .notFound, "no anchor '\(event.text)'", at: event.position,
                    hint: NearestName.hint(event.text, among: anchors.keys.sorted())
                        ?? "write the anchor before its aliases, as &\(event.text)")
                complete = DocumentNode(.scalar(.null), at: event.position)
            }
        case .listStart, .mapStart:
            guard pending.count < SceneLimits.nesting else {
                faults.add(.limit, "nested deeper than \(SceneLimits.nesting) levels", at: event.position)
                return false
            }
            let isMap = event.kind == .mapStart
            let node = DocumentNode(isMap ? .map([]) : .list([]), at: event.position)
            pending.append(Pending(node: node, isMap: isMap, anchor: event.anchor, sizeBefore: size))
            return true
        default:
            guard var done = pending.popLast() else {
                faults.add(.invalid, "the document cannot be read")
                return false
            }
            if done.isMap {
                let entries = entries(of: done)
                done.node = typedLiteral(entries, done.node) ?? DocumentNode(.map(entries), at: done.node.position)
            } else {
                done.node.content = .list(done.elements)
            }
            if let anchor = done.anchor { anchors[anchor] = (done.node, size - done.sizeBefore + 1) }
            complete = done.node
        }
        guard !pending.isEmpty else {
            document = complete
            return true
        }
        pending[pending.count - 1].add(complete)
        return true
    }

    /// A map in the form of a literal with an explicit type.
    private func typedLiteral(_ entries: [DocumentEntry], _ node: DocumentNode) -> DocumentNode? {
        guard entries.count == 1, entries[0].name == TypedLiteral.key else { return nil }
        do throws(Failure) {
            return DocumentNode(typed: try Value(typedJSON: entries[0].value.value), at: node.position)
        } catch {
            faults.add(.invalid, "\(TypedLiteral.key): \(error.message)", at: node.position)
            return nil
        }
    }

    /// The entries of a map, each key once. Entries from `<<` follow its own.
    private func entries(of map: Pending) -> [DocumentEntry] {
        var entries: [DocumentEntry] = []
        entries.reserveCapacity(map.entries.count)
        var merged: [DocumentEntry] = []
        var seen = NameSet()
        for entry in map.entries {
            guard case .scalar(let key) = entry.key.content, key.isKey else {
                let hint: String? = if case .scalar = entry.key.content { "put quotes around it" } else { nil }
                faults.add(.invalid, "a key is a text, not \(entry.key.summary)", at: entry.key.position, hint: hint)
                continue
            }
            if entry.name == "<<", entry.key.style == .plain {
                merged += mergedEntries(entry.value)
            } else if let first = seen.insert(entry.name, at: entries.count) {
                faults.add(
                    .conflict, "the key '\(entry.name)' is written twice", at: entry.key.position,
                    note: SceneFault.Note("it is written here first", entries[first].key.position))
            } else {
                entries.append(entry)
            }
        }
        for entry in merged where seen.insert(entry.name, at: entries.count) == nil { entries.append(entry) }
        return entries
    }

    private func mergedEntries(_ value: DocumentNode) -> [DocumentEntry] {
        if let entries = value.map { return entries }
        if let list = value.list, list.allSatisfy({ $0.map != nil }) { return list.flatMap { $0.map ?? [] } }
        faults.add(.invalid, "<< takes a map or a list of maps, not \(value.summary)", at: value.position)
        return []
    }

    private func scalar(_ event: YAMLEvent) -> DocumentNode {
        let value: Value
        switch event.tag {
        case nil: value = event.style == .plain ? plain(event) : .string(event.text)
        case "str", "!": value = .string(event.text)
        case "binary":
            value = Base64.decode(event.text).map { .bytes($0) } ?? .null
            if case .null = value { faults.add(.invalid, "not base64", at: event.position) }
        case "null"?, "bool"?, "int"?, "float"?: value = plain(event)
        case let tag?:
            value = .string(event.text)
            faults.add(
                .invalid, "unknown tag \(tag)", at: event.position,
                hint: tag.hasPrefix("!")
                    ? "put quotes around a rule that begins with !"
                    : "tags are !!str, !!int, !!float, !!bool, !!null and !!binary")
        }
        return DocumentNode(.scalar(value), text: event.text, style: event.style, at: event.position)
    }

    private func plain(_ event: YAMLEvent) -> Value {
        if let value = PlainScalar.value(event.text) { return value }
        faults.add(
            .invalid, "the number is out of range", at: event.position,
            hint: "an int has 64 bits, a double at most 1.8e308; put quotes around a text")
        return Double(event.text).map { .double($0) } ?? .string(event.text)
    }
}
