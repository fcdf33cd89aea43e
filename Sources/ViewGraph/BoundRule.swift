import AttributeGraph
import AttributeValues
import RuleLanguage

/// A program with its inputs bound to vertices. Nodes that are made from one definition share their rules.
///
/// The inputs lie behind the object's members, in its own memory: an evaluation reads them without counting references.
/// A vertex near that of the rule is stored as the distance to it, another one as its row and generation. Row 0, which
/// no attribute has, marks an input that is no plain vertex: `rest` has it.
final class BoundRule: ManagedBuffer<BoundRule.Members, Int64> {
    struct Members {
        let program: Program
        let count: Int32
        /// True if results are converted to `accepted`. Every evaluation reads this.
        let convertsToType: Bool
        fileprivate(set) var rest: Rest?
    }

    /// Members that most rules do not need.
    final class Rest {
        /// By input of the program; empty if all inputs are plain vertices.
        let inputs: [BoundInput]
        let accepted: ValueType?

        init(_ inputs: [BoundInput], _ accepted: ValueType?) { (self.inputs, self.accepted) = (inputs, accepted) }
    }

    /// The vertex of a rule, to which stored distances are added.
    struct Base {
        fileprivate let bits: Int64

        @inline(__always)
        init(_ attribute: AttributeID) { bits = attribute.bits &+ BoundRule.distanceBias }

        /// The vertex; nil for a rule without one.
        var attribute: AttributeID? {
            self.bits == Base.none.bits ? nil : AttributeID(bits: bits &- BoundRule.distanceBias)
        }

        /// For a rule without a vertex: none is near it.
        static var none: Base { Base(AttributeID(index: 0, generation: 0)) }
    }

    /// Taken from distances, so that they are negative. Rows and generations are not.
    private static let distanceBias: Int64 = 1 << 62
    /// Nodes with more vertices than this may have rules of their own.
    private static let near = -1024...Int64(1024)

    /// The rule that was made last from the program, if it reads the same, or a new one.
    static func obtain(program: Program, accepted: ValueType?, inputs: [BoundInput], at base: Base) -> BoundRule {
        if let last = program.rule as? BoundRule, last.accepted == accepted,
            last.sources(at: base).elementsEqual(inputs)
        {
            return last
        }
        let made = make(program: program, accepted: accepted, inputs: inputs, at: base)
        program.rule = made
        return made
    }

    deinit { if program.rule === self { program.rule = nil } }

    private static func make(program: Program, accepted: ValueType?, inputs: [BoundInput], at base: Base) -> BoundRule {
        let made = create(minimumCapacity: inputs.count) { _ in
            Members(program: program, count: Int32(inputs.count), convertsToType: accepted != nil, rest: nil)
        }
        made.withUnsafeMutablePointers { header, elements in
            var isPlain = true
            for (position, input) in inputs.enumerated() {
                let bits = bits(of: input, at: base)
                (elements + position).initialize(to: bits)
                if bits == 0 { isPlain = false }
            }
            if !isPlain || accepted != nil { header.pointee.rest = Rest(isPlain ? [] : inputs, accepted) }
        }
        return unsafeDowncast(made, to: BoundRule.self)
    }

    private static func bits(of input: BoundInput, at base: Base) -> Int64 {
        guard case .attribute(let vertex) = input else { return 0 }
        let distance = vertex.bits &+ distanceBias &- base.bits
        return near.contains(distance) ? distance &- distanceBias : max(0, vertex.bits)
    }

    var program: Program { header.program }
    var convertsToType: Bool { header.convertsToType }
    /// The type to convert results to; nil if the checker has proved it, or any type will do.
    var accepted: ValueType? { header.rest?.accepted }

    /// The vertex that an input reads. Row 0: the input is no plain vertex.
    @inline(__always)
    func vertex(of input: Int, at base: Base) -> AttributeID {
        let stored = withUnsafeMutablePointerToElements { $0[input] }
        // The base counts for negative numbers.
        return AttributeID(bits: stored &+ (base.bits & stored >> 63))
    }

    func source(of input: Int, at base: Base) -> BoundInput {
        let vertex = vertex(of: input, at: base)
        // The distance of a plain input may lead to row 0 as well, if the rule is compared at another vertex.
        guard vertex.index == 0, let rest = header.rest, !rest.inputs.isEmpty else { return .attribute(vertex) }
        return rest.inputs[input]
    }

    /// By input of the program.
    func sources(at base: Base) -> some Sequence<BoundInput> {
        (0..<Int(header.count)).lazy.map { self.source(of: $0, at: base) }
    }

    /// True if all inputs are whole attributes of a run.
    func readsOnly(_ run: AttributeRun, at base: Base) -> Bool {
        sources(at: base).allSatisfy { input in
            guard case .attribute(let vertex) = input else { return false }
            return run.spans(vertex)
        }
    }

    /// True if two rules of the same vertex read the same.
    func readsSame(as other: BoundRule, at base: Base) -> Bool {
        self === other || sources(at: base).elementsEqual(other.sources(at: base))
    }
}

extension AttributeID {
    @inline(__always)
    fileprivate var bits: Int64 { Int64(index) | Int64(truncatingIfNeeded: generation) << 32 }

    @inline(__always)
    fileprivate init(bits: Int64) {
        self.init(
            index: UInt32(truncatingIfNeeded: bits), generation: UInt32(truncatingIfNeeded: bits >> 32))
    }
}

extension ValueType {
    /// True if values of type `given` must be converted to this type.
    func mustConvert(_ given: ValueType) -> Bool { self != .dyn && !includes(given) }
}
