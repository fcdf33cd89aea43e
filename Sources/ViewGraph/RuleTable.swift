import AttributeGraph
import AttributeValues
import RuleLanguage

/// A program with its inputs bound to the vertices around one node.
///
/// The vertices lie behind the object's members, in its own memory: an evaluation reads them without counting
/// references. Row 0, which no attribute has, marks an input that is no plain vertex: `sources` has it.
final class BoundRule: ManagedBuffer<BoundRule.Members, AttributeID> {
    struct Members {
        let program: Program
        let count: Int32
        /// Whether results are converted to `accepted`. Every evaluation reads this.
        let isHeldToType: Bool
        fileprivate(set) var rest: Rest?
    }

    /// Members that most rules do not need.
    final class Rest {
        /// By input of the program; empty if all inputs are plain vertices.
        let sources: [BoundInput]
        let accepted: ValueType?

        init(_ sources: [BoundInput], _ accepted: ValueType?) { (self.sources, self.accepted) = (sources, accepted) }
    }

    /// - Parameter source: the source of an input.
    static func make(program: Program, type: ValueType = .dyn, source: (RuleInput) -> BoundInput) -> BoundRule {
        let (inputs, accepted) = (program.inputs, type.mustHold(program.resultType.valueType) ? type : nil)
        let made = create(minimumCapacity: inputs.count) { _ in
            Members(program: program, count: Int32(inputs.count), isHeldToType: accepted != nil, rest: nil)
        }
        var sources: [BoundInput] = []
        made.withUnsafeMutablePointers { header, vertices in
            for position in inputs.indices {
                let source = source(inputs[position])
                (vertices + position).initialize(to: source.vertex ?? AttributeID(index: 0, generation: 0))
                if sources.isEmpty, source.vertex == nil { sources = (0..<position).map { .attribute(vertices[$0]) } }
                if source.vertex == nil || !sources.isEmpty { sources.append(source) }
            }
            if accepted != nil || !sources.isEmpty { header.pointee.rest = Rest(sources, accepted) }
        }
        return unsafeDowncast(made, to: BoundRule.self)
    }

    var program: Program { header.program }
    var isHeldToType: Bool { header.isHeldToType }
    /// The type to convert results to; nil if the checker has proved it, or any type will do.
    var accepted: ValueType? { header.rest?.accepted }

    /// The vertex that an input reads. Row 0: the input is no plain vertex.
    @inline(__always)
    func vertex(of input: Int) -> AttributeID { withUnsafeMutablePointerToElements { $0[input] } }

    func source(of input: Int) -> BoundInput {
        let vertex = vertex(of: input)
        guard vertex.index == 0, let rest = header.rest else { return .attribute(vertex) }
        return rest.sources[input]
    }

    /// By input of the program.
    var sources: some Sequence<BoundInput> { (0..<Int(header.count)).lazy.map { self.source(of: $0) } }

    func readsSame(as other: BoundRule) -> Bool { sources.elementsEqual(other.sources) }
}

extension BoundInput {
    fileprivate var vertex: AttributeID? { if case .attribute(let vertex) = self { vertex } else { nil } }
}

extension ValueType {
    /// Whether values of type `given` must be converted to this type.
    func mustHold(_ given: ValueType) -> Bool { self != .dyn && !includes(given) }
}

/// The rules by the engine's rows, so that an evaluation finds its own with one load.
///
/// The table does not retain the rules: a rule is in it exactly as long as the row's `Source` retains it
/// (`Wiring.setSource`, `createRule` and `freeVertex` see to that).
struct RuleTable: ~Copyable {
    private var rows: UnsafeMutablePointer<Unmanaged<BoundRule>?>
    private var capacity: Int

    init() {
        capacity = 64
        rows = .allocate(capacity: capacity)
        rows.initialize(repeating: nil, count: capacity)
    }

    deinit { rows.deallocate() }

    subscript(index: UInt32) -> Unmanaged<BoundRule>? {
        @inline(__always) get { Int(index) < capacity ? rows[Int(index)] : nil }
    }

    mutating func set(_ rule: BoundRule?, at index: UInt32) {
        if Int(index) >= capacity {
            if rule == nil { return }
            let larger = max(capacity * 2, Int(index) + 1)
            let moved = UnsafeMutablePointer<Unmanaged<BoundRule>?>.allocate(capacity: larger)
            moved.update(from: rows, count: capacity)
            (moved + capacity).initialize(repeating: nil, count: larger - capacity)
            rows.deallocate()
            rows = moved
            capacity = larger
        }
        rows[Int(index)] = rule.map { .passUnretained($0) }
    }

    /// Frees the memory of rows that no longer exist.
    mutating func giveBack(keeping count: Int) {
        guard capacity / 4 >= max(64, count) else { return }
        let moved = UnsafeMutablePointer<Unmanaged<BoundRule>?>.allocate(capacity: max(64, count))
        moved.initialize(repeating: nil, count: max(64, count))
        moved.update(from: rows, count: count)
        rows.deallocate()
        rows = moved
        capacity = max(64, count)
    }
}
