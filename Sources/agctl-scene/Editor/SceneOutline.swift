import AttributeValues
import SceneModel

/// A key or a value of a document, with what is around it.
struct Spot {
    var node: DocumentNode
    var isKey: Bool
    /// The kind of the element at this position.
    var shape: SceneShape
    /// For a key: the form of its map, or its own form if its meaning is fixed.
    var form: SceneForm?
    var named: SceneShape.Named?
    /// The value of a key; nil if the element is a value.
    var value: DocumentNode?
    /// The nodes of the scene around it, outermost first; the last one contains it.
    var nodes: [DocumentNode]
    /// The map in which the key stands.
    var map: DocumentNode?
    /// The component in whose body it is.
    var component: String?
}

/// A document as a list of its keys and scalars, in the order of the text.
struct SceneOutline {
    private(set) var spots: [Spot] = []

    /// The recursion is bounded by `SceneLimits.nesting`.
    init(_ document: DocumentNode) { visit(document, .forms([.scene]), [], nil) }

    private mutating func visit(_ node: DocumentNode, _ shape: SceneShape, _ around: [DocumentNode], _ body: String?) {
        if let list = node.list {
            // The elements of a list are what the list is.
            if case .named(let inner, let what) = shape {
                for element in list { visitName(element, inner, what, around, body) }
            } else {
                for element in list { visit(element, shape, around, body) }
            }
            return
        }
        guard let entries = node.map else {
            if case .named(let inner, let what) = shape { return visitName(node, inner, what, around, body) }
            spots.append(Spot(node: node, isKey: false, shape: shape, nodes: around, component: body))
            return
        }
        switch shape {
        case .named(let inner, let what):
            for entry in entries {
                var body = body
                if case .components = what { body = entry.name }
                spots.append(
                    Spot(
                        node: entry.key, isKey: true, shape: inner, named: what, value: entry.value, nodes: around,
                        map: node, component: body))
                // Inputs are written in the scope of the nodes around.
                if case .inputs = what {
                    visit(entry.value, inner, Array(around.dropLast()), body)
                } else {
                    visit(entry.value, inner, around, body)
                }
            }
        case .forms(let forms):
            let form = SceneOutline.form(of: entries, among: forms)
            let around = form == .node || form == .forEach ? around + [node] : around
            for entry in entries {
                let inner = SceneShape.under(entry.name, of: form)
                spots.append(
                    Spot(
                        node: entry.key, isKey: true, shape: inner, form: form, value: entry.value, nodes: around,
                        map: node, component: body))
                visit(entry.value, inner, entry.name == "in" ? Array(around.dropLast()) : around, body)
            }
        default:
            for entry in entries { visit(entry.value, shape, around, body) }
        }
    }

    /// A name in a list, as in `let: [title]`, or alone, as a target.
    private mutating func visitName(
        _ node: DocumentNode, _ inner: SceneShape, _ what: SceneShape.Named, _ around: [DocumentNode], _ body: String?
    ) {
        switch what {
        case .attributes, .inputs:
            spots.append(Spot(node: node, isKey: true, shape: inner, named: what, nodes: around, component: body))
        default: spots.append(Spot(node: node, isKey: false, shape: .expression, nodes: around, component: body))
        }
    }

    /// The form of a map: the first that has all its keys, else the one that has most of them.
    static func form(of entries: [DocumentEntry], among forms: [SceneForm]) -> SceneForm {
        let counts = forms.map { form in entries.count(where: { form.keys.contains($0.name) }) }
        let best = counts.max() ?? 0
        return zip(forms, counts).first { $0.1 == best }?.0 ?? forms[0]
    }

    /// The key or scalar at a position: the last that begins at or before it on its line, or above it.
    func spot(at position: SourcePosition) -> Spot? {
        var found: Spot?
        for spot in spots {
            let start = spot.node.position
            if start.line < position.line || start.line == position.line && start.column <= position.column {
                if let known = found?.node.position,
                    (known.line, known.column) > (start.line, start.column)
                {
                    continue
                }
                found = spot
            }
        }
        // Behind a key, on its line, is its value.
        guard let spot = found else { return nil }
        let start = spot.node.position
        if spot.isKey {
            let end = start.column + spot.node.text.unicodeScalars.count + (spot.node.style == .plain ? 0 : 2)
            return start.line == position.line && position.column <= end ? spot : nil
        }
        return spot
    }
}
