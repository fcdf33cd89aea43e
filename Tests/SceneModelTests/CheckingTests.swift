import AttributeValues
import RuleLanguage
import Testing

@testable import SceneModel

/// The objects of a check, each alone.
@Suite("The parts of a check")
struct CheckingTests {
    private let faults = FaultCollector()
    private let cursor: CheckCursor

    init() { cursor = CheckCursor(faults) }

    private func document(_ text: String) throws -> DocumentNode { try #require(DocumentReader.read(text, faults)) }

    @Test("a fault has the place at which the cursor stands")
    func place() throws {
        let node = try document("{ nodes: [{ id: a }] }")
        cursor.at("nodes") {
            cursor.visit(node["nodes"]?.list ?? []) { child in
                cursor.fault(under: "id", "wrong", at: child["id"] ?? child)
            }
        }
        #expect(faults.faults.map(\.place) == ["nodes[0].id"])
        #expect(cursor.path.isEmpty)
    }

    @Test("the nearest scope decides what a name means, also in rules")
    func scopes() throws {
        let root = LexicalScope(RuleScope())
        let outer = LexicalScope([ScopeEntry(name: "x", type: .int), ScopeEntry(name: "y", type: .bool)], in: root)
        let inner = LexicalScope([ScopeEntry(name: "x", type: .string)], in: outer)
        #expect(inner.find("x")?.type == .string && inner.find("y")?.type == .bool && inner.find("z") == nil)
        #expect(try Rule.compile("x + 'a'", in: inner.rules).resultType == .string)
        #expect(throws: RuleErrors.self) { try Rule.compile("subviews.size()", in: inner.rules) }
        let container = ExpressionScope(lexical: inner, isContainer: true)
        #expect(try Rule.compile("subviews.size()", in: container.rules).resultType == .int)
    }

    @Test("an expression is a literal, a rule or a reference")
    func expressions() throws {
        let reader = ExpressionReader(
            cursor: cursor, vocabulary: Vocabulary(Declarations()), valueSize: .max)
        let scope = LexicalScope(
            [ScopeEntry(name: "items", type: .list(.int), access: .readOnly("a let"))], in: LexicalScope(RuleScope()))
        let texts = ["5", "=items.size()", "$items[0]"]
        let read = try texts.map { try #require(reader.expression(document($0), in: scope)) }
        #expect(read.map(\.expression.text) == ["5", "=items.size()", "$items[0]"])
        #expect(read.map(\.type) == [.int, .int, .int])
        #expect(reader.resolveTarget("$items", in: scope, at: try document("$items")) == nil)
        #expect(faults.faults.map(\.message) == ["'$items' cannot be written: 'items' is a let"])
    }

    @Test("a list of attributes takes each name once")
    func attributes() throws {
        let list = AttributeList(cursor)
        list.enter(try document("a"), .constant(nil), .dyn)
        list.enter(try document("a"), .clock(.everyMinute), .timestamp)
        #expect(list.attributes.map(\.name) == ["a"])
        #expect(faults.faults.map(\.message) == ["the node has an attribute 'a' already, a let"])
    }

    @Test("open nodes hand out children, innermost first, and finish a node after its last child")
    func openNodes() throws {
        let tree = TreePosition(cursor, LexicalScope(RuleScope()), SceneContext())
        let open = OpenNodes(cursor, tree)
        let top = NodeDefinition()
        var finished: [String] = []
        open.push(try document("[{ id: a, children: [{ id: b }] }, { id: c }]").list ?? [], of: top, tree.root.inside)
        while !open.isEmpty {
            guard let child = open.next() else { continue }
            let fields = NodeFields(child.node) { _ in }
            let node = NodeDefinition()
            node.id = Name(fields[.id]?.text ?? "")
            node.kind = .container
            open.take(node.id, of: child, isWritten: true)
            open.push(fields, of: node, tree.root.inside) { finished.append(node.id.text) }
            open.add(node, for: child)
        }
        #expect(finished == ["b", "a", "c"])
        #expect(top.children.map(\.id) == ["a", "c"] && top.children[0].children.map(\.id) == ["b"])
        #expect(faults.isEmpty)
    }

    @Test("rules that read each other in a circle are found")
    func circles() {
        #expect(RuleOrder.circles([[1], [2], [0]]) == [[0, 1, 2, 0]])
        #expect(RuleOrder.circles([[1], [], [0, 1]]).isEmpty)
        #expect(RuleOrder.order(of: ["a", "b", "c"], ["b + c", "c", "1"]) == [2, 1, 0])
    }
}

extension LexicalScope {
    fileprivate var inside: Surroundings { Surroundings(enclosing: self) }
}
