import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// What a vertex of the engine is to the view graph: a row beside the engine's own. An object, so that a row that is free takes no
/// more than a pointer.
final class AttributeRecord {
    /// The row of the node that owns it.
    var node: UInt32
    /// Of a shared vertex: how many sources name it. See `isShared`.
    var holders: Int32 = 0
    var name: String
    /// Of a place inside the value of the attribute of that name.
    var steps: [AttributePath.Step] = []
    var kind: AttributeKind
    /// Not named by a definition: an override, a projection, a list of subviews.
    var isHidden: Bool
    /// Of a shared vertex: it is among the loose ones of `SharedVertices`.
    var isLoose = false
    /// An alias of what may have another type: it reads what `type` makes of that, and is not followed for its value.
    var isHeldToType = false
    var type: ValueType
    var source: Source
    /// As written; nil for what the system made.
    var definition: AttributeDefinition?
    /// Where inside this attribute's value others read, each place a vertex of its own.
    var projections: ProjectionTree?
    /// The record of its past, for as long as the definition says.
    var history: AttributeID?

    /// The name of the binding's own animation.
    var animation: String? {
        guard kind == .binding, case .binding(_, let animation)? = definition?.role else { return nil }
        return animation
    }

    /// The vertex is a place in a value, a clock or an operator over time. Sources of other vertices name it, and it goes when nobody names, reads or
    /// watches it any more. Other vertices go with their node.
    var isShared: Bool {
        guard isHidden else { return false }
        if !steps.isEmpty || kind == .clock { return true }
        if case .rooted = source { return true }
        return false
    }

    init(node: UInt32, name: String, kind: AttributeKind, type: ValueType, isHidden: Bool, source: Source) {
        self.node = node
        self.name = name
        self.kind = kind
        self.type = type
        self.isHidden = isHidden
        self.source = source
    }
}

/// The records by the engine's rows.
struct AttributeTable {
    private var rows: [AttributeRecord?] = []
    /// Records of attributes that definitions name.
    private(set) var named = 0

    subscript(row: Int) -> AttributeRecord? { rows[row] }

    /// O(rows).
    var count: Int { rows.count { $0 != nil } }

    mutating func add(_ record: AttributeRecord, at row: UInt32) {
        while rows.count <= Int(row) { rows.append(nil) }
        rows[Int(row)] = record
        if !record.isHidden { named += 1 }
    }

    mutating func remove(at row: UInt32) {
        if rows[Int(row)]?.isHidden == false { named -= 1 }
        rows[Int(row)] = nil
    }
}

/// Where a vertex's content comes from.
enum Source {
    /// Set from outside through a transaction.
    case state(isTransient: Bool)
    /// Set by the view graph itself: an element, an index, a tick, a shape counter.
    case system
    /// A literal, or the reason why there is nothing to read.
    case literal(Content)
    /// Another place, as it is. `vertex` holds what the place holds; found when first read.
    case alias(Place, vertex: AttributeID?)
    case rule(BoundRule)
    /// The place that a rule chooses, and steps further inside. A place in the value of such an attribute has that as its
    /// `whole`.
    case selected(BoundSelection, steps: [AttributePath.Step], whole: AttributeID?)
    /// The attribute at a path, whoever is there.
    case rooted(RootReference, steps: [AttributePath.Step], whole: AttributeID?)
    /// A place inside another vertex that is not a state.
    case projection(of: AttributeID, steps: [AttributePath.Step])
    /// An inherited environment value with some of its fields replaced.
    case override(inherited: AttributeID, steps: [AttributePath.Step], value: AttributeID)
    case subviewList
    case subviews(SubviewParts)
    case sections(SubviewParts)
    case preferenceOutput(key: String)
    case preference(key: String)
    /// All properties of an object, as a map.
    case object(node: UInt32)
    /// The ids of a `forEach`.
    case elements
    /// What a component is given for a `slot`.
    case given
    /// An operator over the past of another vertex.
    case timed(TimedValue)
}

/// An attribute and a place inside its value: what a name comes down to once bindings and references are followed.
public struct Place: Hashable {
    public var attribute: AttributeID
    public var steps: [AttributePath.Step]

    public init(_ attribute: AttributeID, _ steps: [AttributePath.Step] = []) {
        self.attribute = attribute
        self.steps = steps
    }
}

/// What one input of a rule reads.
enum BoundInput: Equatable {
    case attribute(AttributeID)
    /// Whether there is something at a vertex; `of` is what would hold it.
    case presence(AttributeID, of: AttributeID)
    /// The rule says where inside only as it runs.
    case dynamic(Place)
    case failure(Failure)
}
