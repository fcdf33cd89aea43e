import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel
import Testing

@testable import ViewGraph

@Suite("bound rules")
struct BoundRuleTests {
    private let graph = ViewGraph(wallTime: .epoch)

    private func make(_ text: String) throws {
        graph.perform(try graph.planned(try SceneReader.read(text: text), at: .root, .create).plan)
    }

    private func rule(_ path: String) throws -> BoundRule? {
        let attribute = try graph.locate(AttributePath(path)).attribute
        if case .rule(let rule) = graph.record(attribute).source { return rule }
        return nil
    }

    private func value(_ path: String) throws -> Value? {
        graph.content(of: try graph.locate(AttributePath(path)).attribute).value
    }

    @Test("uses of a component share its rules, and each reads its own attributes") func sharing() throws {
        try make(
            """
            components:
              Cell: { let: [n], computed: { twice: n * 2, next: twice + 1 } }
            nodes:
              - { id: a, component: Cell, let: { n: 1 } }
              - { id: b, component: Cell, let: { n: 2 } }
            """)
        for name in ["twice", "next"] {
            let first = try #require(try rule("/a.\(name)"))
            #expect(try rule("/b.\(name)") === first)
        }
        #expect(try value("/a.next") == 3)
        #expect(try value("/b.next") == 5)
    }

    @Test("a rule that reads a reference is shared, wherever the reference leads") func references() throws {
        let fillers = (0..<1500).map { "f\($0): 0" }.joined(separator: ", ")
        try make(
            """
            components:
              Cell: { binding: { limit: { type: int } }, let: [n], computed: { isOver: n > limit } }
            nodes:
              - id: top
                state: { limit: 1, other: 2, \(fillers) }
                children:
                  - { id: a, component: Cell, let: { n: 2 }, binding: { limit: $limit } }
                  - { id: b, component: Cell, let: { n: 1 }, binding: { limit: $limit } }
                  - { id: c, component: Cell, let: { n: 2 }, binding: { limit: $other } }
            """)
        let first = try #require(try rule("/top/a.isOver"))
        #expect(try rule("/top/b.isOver") === first && rule("/top/c.isOver") === first)
        #expect(try ["a", "b", "c"].map { try value("/top/\($0).isOver") } == [true, false, false])
    }

    @Test("inputs are read as they were given, whatever their rows and generations") func inputs() throws {
        let scope = RuleScope()
        for name in ["a", "b"] { scope.declare(name, ValueType.int) }
        let program = try Rule.compile("a + b", in: scope)
        let own = AttributeID(index: 5000, generation: 3)
        let vertices = [
            own, AttributeID(index: 4999, generation: 3), AttributeID(index: 5001, generation: 3),
            AttributeID(index: 5001, generation: 2), AttributeID(index: 1, generation: 3),
            AttributeID(index: .max, generation: 1), AttributeID(index: 7, generation: .max - 1),
        ]
        for base in [BoundRule.Base(own), .none] {
            for vertex in vertices {
                let inputs: [BoundInput] = [.attribute(vertex), .dynamic(Place(vertex))]
                let rule = BoundRule.obtain(program: program, accepted: nil, inputs: inputs, at: base)
                #expect(Array(rule.sources(at: base)) == inputs)
            }
        }
    }

    @Test("vertices that read the same share a rule as long as one has it") func lastRule() throws {
        let scope = RuleScope()
        scope.declare("a", ValueType.int)
        let program = try Rule.compile("a", in: scope)
        func obtain(_ row: UInt32) -> BoundRule {
            let input = BoundInput.attribute(AttributeID(index: row, generation: 1))
            return BoundRule.obtain(program: program, accepted: nil, inputs: [input], at: .none)
        }
        var first: BoundRule? = obtain(1)
        #expect(obtain(1) === first)
        let second = obtain(2)
        #expect(second !== first && obtain(2) === second)
        // The rule that is freed is not the one that the program names.
        first = nil
        #expect(program.rule === second)
        withExtendedLifetime(second) {}
        #expect(obtain(1) !== second)
        #expect(program.rule == nil)
    }
}
