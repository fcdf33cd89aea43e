import AttributeGraph
import AttributeValues
import RuleLanguage

/// A program bound to the attributes of one node: what each of its inputs reads.
///
/// `vertices` is memory of the rule's own, from `init` to `deinit`: an evaluation reads it without counting references. Row 0,
/// which no attribute has, stands for an input that is no plain vertex; `sources` has it then.
final class BoundRule {
    let program: Program
    /// By the program's input.
    let sources: [BoundInput]
    /// The type to hold results to; nil where the checker has proved it, or anything goes.
    let accepted: ValueType?
    /// Whether there is one: asked by every evaluation.
    let isHeldToType: Bool
    let vertices: UnsafeMutablePointer<AttributeID>

    init(program: Program, sources: [BoundInput], type: ValueType = .dyn) {
        self.program = program
        self.sources = sources
        accepted = type.mustHold(program.resultType.valueType) ? type : nil
        isHeldToType = accepted != nil
        vertices = .allocate(capacity: max(1, sources.count))
        for (position, source) in sources.enumerated() {
            let vertex =
                if case .attribute(let attribute) = source { attribute } else { AttributeID(index: 0, generation: 0) }
            (vertices + position).initialize(to: vertex)
        }
    }

    deinit { vertices.deallocate() }
}

extension ValueType {
    /// Whether what may come out as another type must be held to this one.
    func mustHold(_ given: ValueType) -> Bool { self != .dyn && !includes(given) }
}

/// The rules by the engine's rows, so that an evaluation finds its own with one load.
///
/// The table counts no references: a rule stands in it exactly as long as the row's `Source` holds it (`Wiring.setSource`,
/// `createRule` and `freeVertex` see to that).
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

    /// Gives back the memory of rows that are no more.
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
