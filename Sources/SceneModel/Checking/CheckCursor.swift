import AttributeValues

/// The state of a check: the place in the document, the steps taken, and the faults found so far.
package final class CheckCursor {
    package enum Step {
        case key(String)
        case index(Int)
    }

    let faults: FaultCollector
    /// See `SceneContext.isKept`.
    let isKept: Bool
    /// The place that is being checked.
    var path: [Step] = []
    /// The authors of the parts that are being read.
    var authors = PartAuthors(.daemon)
    /// The names outside the document that its bindings and actions write, with one of these.
    private(set) var written: [Name: String] = [:]
    /// Steps taken since the checking began.
    var work = 0

    /// How to use a name that is known, but not at this place; nil for other names.
    private(set) var hintForOther: (_ name: String) -> String? = { _ in nil }

    package init(_ faults: FaultCollector, isKept: Bool = false) { (self.faults, self.isKept) = (faults, isKept) }

    /// Notes that a binding or an action writes through a name.
    func noteWritten(_ entry: ScopeEntry) {
        if let name = entry.outside, written[name] == nil { written[name] = place }
    }

    /// Takes the authors of a node from an entry of a store's document.
    /// - Returns: false for any other entry.
    func takeAuthors(_ entry: DocumentEntry) -> Bool {
        guard isOfAuthors(entry) else { return false }
        authors = PartAuthors(kept: entry.value.value)
        return true
    }

    /// True for the entry of a store's document that has authors.
    func isOfAuthors(_ entry: DocumentEntry) -> Bool { isKept && entry.name.hasSameBytes(as: PartAuthor.key) }

    // MARK: Place

    /// `nodes[2].computed.symbol`
    var place: String {
        var text = ""
        for step in path {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key):
                let step = AttributePath.Step.key(key).description
                text += text.isEmpty && step.hasPrefix(".") ? String(step.dropFirst()) : step
            }
        }
        return text
    }

    /// The component whose body is being checked.
    var component: String? {
        guard path.count > 1, case (.key("components"), .key(let name)) = (path[0], path[1]) else { return nil }
        return name
    }

    package func at<R>(_ key: String, _ body: () -> R) -> R {
        path.append(.key(key))
        defer { path.removeLast() }
        return body()
    }

    func at<R>(_ keys: [String], _ body: () -> R) -> R {
        path += keys.map { .key($0) }
        defer { path.removeLast(keys.count) }
        return body()
    }

    package func at<R>(_ index: Int, _ body: () -> R) -> R {
        path.append(.index(index))
        defer { path.removeLast() }
        return body()
    }

    /// Reads a part that cannot use all names.
    func withHint<Part>(forOther hint: @escaping (_ name: String) -> String?, _ read: () -> Part) -> Part {
        hintForOther = hint
        defer { hintForOther = { _ in nil } }
        return read()
    }

    // MARK: Faults

    /// - Parameter key: the key of the faulty value at this place; nil for the place itself.
    package func fault(
        under key: String? = nil, _ code: ErrorCode, _ message: @autoclosure () -> String, at node: DocumentNode,
        hint: @autoclosure () -> String? = nil, note: SceneFault.Note? = nil
    ) {
        if let key { return at(key) { fault(code, message(), at: node, hint: hint(), note: note) } }
        faults.add(SceneFault(code, message(), place: place, position: node.position, hint: hint(), note: note))
    }

    /// The same with the code `invalid`.
    package func fault(
        under key: String? = nil, _ message: @autoclosure () -> String, at node: DocumentNode,
        hint: @autoclosure () -> String? = nil, note: SceneFault.Note? = nil
    ) {
        fault(under: key, .invalid, message(), at: node, hint: hint(), note: note)
    }

    /// Adds a fault in the place of what was to be read.
    package func refuse<Part>(
        under key: String? = nil, _ code: ErrorCode, _ message: @autoclosure () -> String, at node: DocumentNode,
        hint: @autoclosure () -> String? = nil, note: SceneFault.Note? = nil
    ) -> Part? {
        fault(under: key, code, message(), at: node, hint: hint(), note: note)
        return nil
    }

    package func refuse<Part>(
        under key: String? = nil, _ message: @autoclosure () -> String, at node: DocumentNode,
        hint: @autoclosure () -> String? = nil, note: SceneFault.Note? = nil
    ) -> Part? {
        refuse(under: key, .invalid, message(), at: node, hint: hint(), note: note)
    }

    // MARK: Shapes

    /// The entries of a map. Any other value is a fault and has none. A missing value (`state:` alone) is an empty map.
    package func readEntries(_ node: DocumentNode, _ what: String, hint: String? = nil) -> [DocumentEntry] {
        if node.isNull { return [] }
        if let entries = node.map { return entries }
        fault("\(what) is a map, not \(node.summary)", at: node, hint: hint)
        return []
    }

    /// Visits the entries of a map, each at its place.
    package func visitEntries(
        _ node: DocumentNode, _ what: String, hint: String? = nil, _ body: (DocumentEntry) -> Void
    ) {
        for entry in readEntries(node, what, hint: hint) { at(entry.name) { body(entry) } }
    }

    /// Visits the elements of a list, each at its place.
    package func visit(_ elements: [DocumentNode], _ body: (DocumentNode) -> Void) {
        for (position, element) in elements.enumerated() { at(position) { body(element) } }
    }

    package func readElements(_ node: DocumentNode, _ what: String, hint: String? = nil) -> [DocumentNode] {
        if node.isNull { return [] }
        if let elements = node.list { return elements }
        fault("\(what) is a list, not \(node.summary)", at: node, hint: hint)
        return []
    }

    /// A list of nodes; a map is a fault.
    func readNodes(_ written: DocumentNode, _ what: String) -> [DocumentNode] {
        let hint = "write a '-' before each node"
        if written.map != nil {
            fault("\(what) is a list of nodes, not a map", at: written, hint: hint)
            return []
        }
        return readElements(written, what, hint: hint)
    }

    package func checkKeys(_ entries: [DocumentEntry], of what: String, allowed: [String]) {
        for entry in entries where !allowed.contains(entry.name) {
            at(entry.name) { refuseKey(entry.key, of: what, allowed: allowed) }
        }
    }

    package func refuseKey(_ key: DocumentNode, of what: String, allowed: [String]) {
        fault(
            "\(what) has no key '\(key.text)'", at: key,
            hint: NearestName.hint(key.text, among: allowed) ?? "the keys are \(allowed.joined(separator: ", "))")
    }

    /// Returns true for a name that rules and paths can use; otherwise adds a fault.
    func checkName(_ node: DocumentNode, _ what: String) -> Bool {
        let name = node.text
        guard name.isIdentifier else {
            fault(
                "\(what) '\(name)' is not an identifier", at: node,
                hint: "a name is made of letters, digits and _, and does not begin with a digit")
            return false
        }
        guard name.utf8.count <= SceneLimits.nameLength else {
            fault(.limit, "\(what) is longer than \(SceneLimits.nameLength) bytes", at: node)
            return false
        }
        guard !ReservedNames.all.contains(name) else {
            fault("\(what) cannot be '\(name)': the word has a meaning in rules", at: node)
            return false
        }
        return true
    }
}

/// Names that have a meaning in every rule, or that rules cannot contain.
enum ReservedNames {
    static let roots: Set<String> = ["env", "self", "preferences", "subviews", "sections"]
    static let all: Set<String> = roots.union([
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return", "var", "void", "while",
    ])
}
