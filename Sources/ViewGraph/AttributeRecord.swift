import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// What a vertex of the engine is to the view graph: a row of 32 bytes beside the engine's own. A copy shares
/// the members that few rows have.
struct AttributeRecord {
    /// The row of the node that owns it.
    var node: UInt32
    private(set) var kind: AttributeKind
    /// An alias of what may have another type: it reads what `type` makes of that, and is not followed for its value.
    var isHeldToType = false
    private var origin: Origin
    var source: Source
    private var extras: Extras?

    /// What an attribute of a definition says, which all instances share, or what the system made.
    private enum Origin {
        case written(AttributeDefinition)
        case made(Made)
    }

    private final class Made {
        let name: String
        let type: ValueType
        let isHidden: Bool

        init(_ name: String, _ type: ValueType, isHidden: Bool) {
            (self.name, self.type, self.isHidden) = (name, type, isHidden)
        }
    }

    /// What few rows have; made with the first of it.
    private final class Extras {
        var holders: Int32 = 0
        var steps: [AttributePath.Step] = []
        var isLoose = false
        var projections: ProjectionTree?
        var history: AttributeID?
    }

    /// What the system makes.
    init(node: UInt32, name: String, kind: AttributeKind, type: ValueType, isHidden: Bool, source: Source) {
        self.node = node
        self.kind = kind
        origin = .made(Made(name, type, isHidden: isHidden))
        self.source = source
    }

    init(node: UInt32, _ definition: AttributeDefinition, source: Source) {
        self.node = node
        kind = definition.kind
        origin = .written(definition)
        self.source = source
    }

    /// Another definition says what the attribute is.
    mutating func redefine(as definition: AttributeDefinition) {
        kind = definition.kind
        origin = .written(definition)
    }

    /// What the system made has another type from now on.
    mutating func retype(_ type: ValueType) { origin = .made(Made(name, type, isHidden: isHidden)) }

    var name: String {
        switch origin {
        case .written(let definition): definition.name
        case .made(let made): made.name
        }
    }

    var type: ValueType {
        switch origin {
        case .written(let definition): definition.type
        case .made(let made): made.type
        }
    }

    /// Not named by a definition: an override, a projection, a list of subviews.
    var isHidden: Bool {
        switch origin {
        case .written: false
        case .made(let made): made.isHidden
        }
    }

    /// As written; nil for what the system made.
    var definition: AttributeDefinition? {
        if case .written(let definition) = origin { definition } else { nil }
    }

    private var madeExtras: Extras {
        mutating get {
            if let extras { return extras }
            let made = Extras()
            extras = made
            return made
        }
    }

    /// Of a shared vertex: how many sources name it. See `isShared`.
    var holders: Int32 {
        get { extras?.holders ?? 0 }
        set { madeExtras.holders = newValue }
    }
    /// Of a shared vertex: it is among the loose ones of `SharedVertices`.
    var isLoose: Bool {
        get { extras?.isLoose ?? false }
        set { madeExtras.isLoose = newValue }
    }
    /// Of a place inside the value of the attribute of that name.
    var steps: [AttributePath.Step] {
        get { extras?.steps ?? [] }
        set { madeExtras.steps = newValue }
    }
    /// Where inside this attribute's value others read, each place a vertex of its own.
    var projections: ProjectionTree? {
        get { extras?.projections }
        set { if newValue != nil || extras != nil { madeExtras.projections = newValue } }
    }
    /// The record of its past, for as long as the definition says.
    var history: AttributeID? {
        get { extras?.history }
        set { if newValue != nil || extras != nil { madeExtras.history = newValue } }
    }

    /// The name of the binding's own animation.
    var animation: String? {
        guard kind == .binding, case .binding(_, let animation)? = definition?.role else { return nil }
        return animation
    }

    /// The vertex is a place in a value, a clock or an operator over time. Sources of other vertices name it, and it
    /// goes when nobody names, reads or watches it any more. Other vertices go with their node.
    var isShared: Bool {
        guard isHidden else { return false }
        if extras?.steps.isEmpty == false || kind == .clock { return true }
        if case .rooted = source { return true }
        return false
    }
}

/// The records by the engine's rows.
struct AttributeTable {
    private var rows: ContiguousArray<AttributeRecord?> = []
    /// Records of attributes that definitions name.
    private(set) var named = 0

    /// nil for a row that is free, or was one when memory was given back.
    subscript(row: Int) -> AttributeRecord? {
        get { row < rows.count ? rows[row] : nil }
        _modify { yield &rows[row] }
    }

    /// O(rows).
    var count: Int { rows.count { $0 != nil } }

    mutating func add(_ record: AttributeRecord, at row: UInt32) {
        while rows.count <= Int(row) { rows.append(nil) }
        rows[Int(row)] = record
        if !record.isHidden { named += 1 }
    }

    mutating func remove(at row: UInt32) {
        if self[Int(row)]?.isHidden == false { named -= 1 }
        rows[Int(row)] = nil
    }

    /// Forgets rows that the engine has no more, and gives back their memory.
    mutating func giveBack(keeping count: Int) {
        if rows.count > count { rows.removeLast(rows.count - count) }
        rows = ContiguousArray(rows)
    }
}

/// Where a vertex's content comes from.
enum Source {
    /// Set from outside through a transaction.
    case state(isTransient: Bool)
    /// Set by the view graph itself: an element, an index, a tick, a shape counter.
    case system
    /// A literal, or the reason why there is nothing to read.
    indirect case literal(Content)
    /// Another place, as it is. `vertex` holds what the place holds; found when first read.
    indirect case alias(Place, vertex: AttributeID?)
    case rule(BoundRule)
    /// The place that a rule chooses, and steps further inside. A place in the value of such an attribute has that as
    /// its `whole`.
    indirect case selected(BoundSelection, steps: [AttributePath.Step], whole: AttributeID?)
    /// The attribute at a path, whoever is there.
    indirect case rooted(RootReference, steps: [AttributePath.Step], whole: AttributeID?)
    /// A place inside another vertex that is not a state.
    indirect case projection(of: AttributeID, steps: [AttributePath.Step])
    /// An inherited environment value with some of its fields replaced.
    indirect case override(inherited: AttributeID, steps: [AttributePath.Step], value: AttributeID)
    case subviewList
    indirect case subviews(SubviewParts)
    indirect case sections(SubviewParts)
    indirect case preferenceOutput(key: String)
    indirect case preference(key: String)
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
