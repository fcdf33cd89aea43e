import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// The kind of an attribute, as its users know it.
public enum AttributeKind: String, Sendable {
    case state, binding, `let`, computed, inherit, clock, action
}

/// The view graph's data about a vertex: a row of 24 bytes beside the engine's own. Copies of a record share its
/// `extras`.
struct AttributeRecord {
    /// The row of the node that owns it.
    var node: NodeRow
    private(set) var kind: AttributeKind
    /// True for an alias whose target may have another type. A read converts the target's content to `type`, and
    /// `follow` does not pass through the alias to find a value.
    var convertsToType = false
    /// True if no user can name the vertex: an override, a projection, a list of subviews.
    private(set) var isHidden: Bool
    /// True for places in values, clocks and operators over time. Sources of other vertices name them, and they are
    /// freed when nothing names, reads or watches them any more. Other vertices are freed with their node.
    let isShared: Bool
    fileprivate var body: Body
    var source: Source

    fileprivate enum Body {
        case plain(Origin)
        case extended(Extras)
        /// A place in the value of another attribute.
        case place(ProjectionTree.Entry)
    }

    /// A definition, which all instances share, or a name and a type that the system chose.
    fileprivate enum Origin {
        case written(AttributeDefinition)
        case made(Made)
    }

    fileprivate final class Made {
        let name: String
        let type: ValueType

        init(_ name: String, _ type: ValueType) { (self.name, self.type) = (name, type) }
    }

    /// Members that few records need; allocated when one of them is first set.
    fileprivate final class Extras: SharedUses {
        var origin: Origin
        var projections: ProjectionTree?
        var reports: ProjectionTree?
        var history: AttributeID?
        var expiry: AttributeID?
        var entries: AttributeID?

        init(_ origin: Origin) { self.origin = origin }
    }

    /// For vertices that the system makes.
    init(node: NodeRow, name: String, kind: AttributeKind, type: ValueType, isHidden: Bool, source: Source) {
        self.node = node
        self.kind = kind
        self.isHidden = isHidden
        let isRooted = if case .rooted = source { true } else { false }
        isShared = isHidden && (kind == .clock || isRooted)
        let origin = Origin.made(Made(name, type))
        body = isShared ? .extended(Extras(origin)) : .plain(origin)
        self.source = source
    }

    init(_ place: ProjectionTree.Entry, node: NodeRow, kind: AttributeKind, source: Source) {
        self.node = node
        self.kind = kind
        (isHidden, isShared) = (true, true)
        body = .place(place)
        self.source = source
    }

    init(node: NodeRow, _ definition: AttributeDefinition, source: Source) {
        self.node = node
        kind = definition.kind
        (isHidden, isShared) = (false, false)
        body = .plain(.written(definition))
        self.source = source
    }

    /// nil for places.
    private var origin: Origin? {
        switch body {
        case .plain(let origin): origin
        case .extended(let extras): extras.origin
        case .place: nil
        }
    }

    private mutating func setOrigin(_ origin: Origin) {
        if let extras { extras.origin = origin } else { body = .plain(origin) }
    }

    mutating func redefine(as definition: AttributeDefinition) {
        kind = definition.kind
        isHidden = false
        setOrigin(.written(definition))
    }

    /// Only for vertices that the system made.
    mutating func retype(_ type: ValueType) { setOrigin(.made(Made(name, type))) }

    /// A place has the name of the attribute that it is in.
    var name: String {
        switch origin {
        case .written(let definition): definition.name
        case .made(let made): made.name
        case nil: place?.tree.name ?? ""
        }
    }

    var type: ValueType {
        switch origin {
        case .written(let definition): definition.type
        case .made(let made): made.type
        case nil: .dyn
        }
    }

    /// nil for vertices that the system made.
    var definition: AttributeDefinition? {
        if case .written(let definition)? = origin { definition } else { nil }
    }

    private var extras: Extras? { if case .extended(let extras) = body { extras } else { nil } }

    /// For a vertex that is a place in the value of another attribute.
    var place: ProjectionTree.Entry? { if case .place(let place) = body { place } else { nil } }

    private var madeExtras: Extras {
        mutating get {
            if let extras { return extras }
            guard let origin else { preconditionFailure("a place has no extras") }
            let made = Extras(origin)
            body = .extended(made)
            return made
        }
    }

    var isBare: Bool { if case .plain = body { true } else { false } }

    /// The steps of a place inside the value of the attribute with the same name; empty for whole attributes.
    var steps: [AttributePath.Step] { place?.steps ?? [] }
    /// The places inside this attribute's value that others read, each a vertex of its own.
    var projections: ProjectionTree? {
        get { extras?.projections }
        set { if newValue != nil || extras != nil { madeExtras.projections = newValue } }
    }
    /// For a state: the times of the last reports of its value, and of places in it, for those who ask. Each is a
    /// vertex. See `Wiring.lastReport`.
    fileprivate(set) var reports: ProjectionTree? {
        get { extras?.reports }
        set { if newValue != nil || extras != nil { madeExtras.reports = newValue } }
    }
    /// The vertex that records this attribute's past values, if the definition asks for a history.
    var history: AttributeID? {
        get { extras?.history }
        set { if newValue != nil || extras != nil { madeExtras.history = newValue } }
    }
    /// For a state that expires: the operator that knows its last report.
    var expiry: AttributeID? {
        get { extras?.expiry }
        set { if newValue != nil || extras != nil { madeExtras.expiry = newValue } }
    }

    /// For a map with `entries`: the operator that knows the last reports of its entries.
    fileprivate(set) var entries: AttributeID? {
        get { extras?.entries }
        set { if newValue != nil || extras != nil { madeExtras.entries = newValue } }
    }

    /// The name of the binding's own animation.
    var animation: String? {
        guard kind == .binding, case .binding(_, let animation)? = definition?.role else { return nil }
        return animation
    }
}

/// Counts the uses of a shared vertex; see `AttributeRecord.isShared`.
class SharedUses {
    /// The number of sources that name the vertex.
    final var count: Int32 = 0
    /// True while `SharedVertices` lists the vertex as possibly unused.
    final var isLoose = false
}

/// The records by the engine's rows.
struct AttributeTable {
    private var rows: ContiguousArray<AttributeRecord?> = []
    /// Records of attributes that definitions name.
    private(set) var named = 0
    /// States whose reports somebody asks for. Every write looks, so this is looked at first.
    private(set) var reportedStates = 0
    /// States with `entries`. Every write looks.
    private(set) var statesWithEntries = 0

    /// nil for a free row, also for one behind the end of the table.
    subscript(vertex: AttributeID) -> AttributeRecord? {
        get { vertex.row < rows.count ? rows[vertex.row] : nil }
        _modify { yield &rows[vertex.row] }
    }

    /// The source alone: a record takes longer to copy.
    func source(_ vertex: AttributeID) -> Source? { vertex.row < rows.count ? rows[vertex.row]?.source : nil }

    /// The place alone, if the vertex is one.
    func place(_ vertex: AttributeID) -> ProjectionTree.Entry? {
        vertex.row < rows.count ? rows[vertex.row]?.place : nil
    }

    /// The type alone, if the vertex is a state.
    func stateType(_ vertex: AttributeID) -> ValueType? {
        guard case .state? = source(vertex) else { return nil }
        return rows[vertex.row]?.type
    }

    /// The node alone.
    func node(_ vertex: AttributeID) -> NodeRow? { vertex.row < rows.count ? rows[vertex.row]?.node : nil }

    /// The places in the value alone.
    func projections(_ vertex: AttributeID) -> ProjectionTree? {
        vertex.row < rows.count ? rows[vertex.row]?.projections : nil
    }

    /// The times of reports alone, if somebody asks for them.
    func reports(_ vertex: AttributeID) -> ProjectionTree? { vertex.row < rows.count ? rows[vertex.row]?.reports : nil }

    mutating func setReports(_ reports: ProjectionTree?, at vertex: AttributeID) {
        if rows[vertex.row]?.reports != nil { reportedStates -= 1 }
        rows[vertex.row]?.reports = reports
        if reports != nil { reportedStates += 1 }
    }

    mutating func setEntries(_ entries: AttributeID?, at vertex: AttributeID) {
        if rows[vertex.row]?.entries != nil { statesWithEntries -= 1 }
        rows[vertex.row]?.entries = entries
        if entries != nil { statesWithEntries += 1 }
    }

    mutating func setSource(_ source: Source, at vertex: AttributeID) { rows[vertex.row]?.source = source }

    /// As the record's members; a record takes longer to copy.
    func convertsToType(_ vertex: AttributeID) -> Bool {
        vertex.row < rows.count && rows[vertex.row]?.convertsToType == true
    }

    /// nil for a vertex that is not shared.
    func uses(_ vertex: AttributeID) -> SharedUses? {
        guard vertex.row < rows.count, rows[vertex.row]?.isShared == true else { return nil }
        return switch rows[vertex.row]?.body {
        case .extended(let extras)?: extras
        case .place(let place)?: place
        case .plain?, nil: nil
        }
    }

    /// True if nothing but its definition is known of the attribute: no history, and no places in its value.
    func isBare(_ vertex: AttributeID) -> Bool { rows[vertex.row]?.isBare == true }

    /// Gives a source that reads no shared vertices to a vertex that has never been connected. The engine knows such a
    /// vertex as stale.
    /// - Returns: false if it has been connected.
    mutating func connectNew(_ source: Source, at vertex: AttributeID) -> Bool {
        guard case .unconnected? = rows[vertex.row]?.source else { return false }
        rows[vertex.row]?.source = source
        return true
    }

    /// The rule that is the source of a vertex. The table retains it as long as it is the source.
    @inline(__always)
    func rule(_ vertex: AttributeID) -> Unmanaged<BoundRule>? {
        guard vertex.row < rows.count, case .rule(let rule)? = rows[vertex.row]?.source else { return nil }
        return .passUnretained(rule)
    }

    /// The vertex that an alias reads, if that is known and the content needs no conversion.
    func aliased(_ vertex: AttributeID) -> AttributeID? {
        guard vertex.row < rows.count, case .alias(_, let source)? = rows[vertex.row]?.source, !convertsToType(vertex)
        else {
            return nil
        }
        return source
    }

    /// O(rows).
    var count: Int { rows.count { $0 != nil } }

    mutating func add(_ record: consuming AttributeRecord, at vertex: AttributeID) {
        if !record.isHidden { named += 1 }
        // Memory that is never used costs nothing in a large table, so it grows seldom.
        if rows.count == rows.capacity, rows.count >= 1024 { rows.reserveCapacity(8 * rows.count) }
        if vertex.row == rows.count { return rows.append(record) }
        while rows.count <= vertex.row { rows.append(nil) }
        rows[vertex.row] = record
    }

    mutating func remove(at vertex: AttributeID) {
        if self[vertex]?.isHidden == false { named -= 1 }
        if reportedStates > 0, rows[vertex.row]?.reports != nil { reportedStates -= 1 }
        rows[vertex.row] = nil
    }

    /// Drops the records behind the engine's last row, and frees unused memory.
    mutating func giveBack(keeping count: Int) {
        if rows.capacity - min(count, rows.count) < rows.capacity / 8 { return }
        var packed: ContiguousArray<AttributeRecord?> = []
        packed.reserveCapacity(count)
        packed += rows.prefix(count)
        rows = packed
    }
}

/// Where a vertex's content comes from.
enum Source {
    /// Set from outside through a transaction.
    case state(isTransient: Bool)
    /// A rule whose node is not connected yet.
    case unconnected
    /// Set by the view graph itself: an element, an index, a tick, a shape counter.
    case system
    /// A fixed value or failure.
    indirect case literal(Content)
    /// Another place, unchanged. `vertex` is the vertex of that place, looked up at the first read.
    indirect case alias(Place, vertex: AttributeID?)
    case rule(BoundRule)
    /// The place that a rule chooses.
    case selected(BoundSelection)
    /// The attribute that is at a path now.
    case rooted(RootReference)
    /// A place inside the value of a vertex that is no input.
    case projection
    /// An inherited environment value with some of its fields replaced.
    indirect case override(inherited: AttributeID, steps: [AttributePath.Step], value: AttributeID)
    case subviewList
    indirect case subviews(SubviewParts)
    indirect case sections(SubviewParts)
    indirect case preferenceOutput(key: String)
    indirect case preference(key: String)
    /// All properties of an object, as a map.
    case object(node: NodeRow)
    /// The ids of a `forEach`.
    case elements
    /// The nodes that a component is given for a `slot`.
    case given
    /// An operator over the past of another vertex.
    case timed(TimedValue)
    /// A clock whose schedule is complete only with the value of another vertex.
    indirect case scheduled(ClockSchedule, by: AttributeID)
    /// When another vertex was last reported, for its watchers.
    case reportTime(AttributeID)
}

extension AttributeID {
    /// Where tables beside the engine's rows have what belongs to the vertex.
    fileprivate var row: Int { Int(index) }
}
