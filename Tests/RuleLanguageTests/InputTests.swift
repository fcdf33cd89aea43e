import AttributeValues
import Testing

@testable import RuleLanguage

@Suite("Inputs of a rule")
struct InputTests {
    private func inputs(_ rule: String) throws -> [String] {
        try Rule.compile(rule, in: makeScope()).inputs.map { $0.isDefinite ? "\($0)!" : "\($0)" }
    }

    private func reads(_ rule: String, _ bindings: ValueMap) throws -> [String] {
        let program = try Rule.compile(rule, in: makeScope())
        var reader = RecordingReader(program, bindings)
        guard case .content(.value) = Evaluator().evaluate(program, &reader) else {
            Issue.record("\(rule) gives no value")
            return []
        }
        return reader.reads
    }

    @Test(
        "the inputs are the longest constant paths; an exclamation mark is a definite one",
        arguments: [
            ("x + y", ["x!", "y!"]),
            ("user.address.city", ["user.address.city!"]),
            ("user['address'].city + user.name", ["user.address.city!", "user.name!"]),
            ("items[0].done", ["items[0].done!"]),
            ("items[x].done", ["x!", "items[*]!"]),
            ("env.locale", ["env.locale!"]),
            ("env['locale']", ["env.locale!"]),
            ("has(user.age)", ["has(user.age)!"]),
            ("has(user.age) ? user.age : 0", ["has(user.age)!", "user.age"]),
            ("x > 0 && y > 0", ["x!", "y"]),
            ("x > 0 ? y : 1", ["x!", "y"]),
            ("numbers.all(n, n > x)", ["numbers!", "x"]),
            ("numbers.map(x, x)", ["numbers!"]),
            ("cel.bind(a, x, 1)", ["x"]),
            ("size(user)", ["user!"]),
            ("user.?age.orValue(x)", ["has(user.age)!", "user.age", "x"]),
            ("library.count + 1", ["library.count!"]),
            ("1 / 0 > x || y > 0", ["x", "y"]),
            ("x + x", ["x!"]),
        ] as [(String, [String])])
    func staticInputs(rule: String, expected: [String]) throws {
        #expect(try inputs(rule) == expected)
    }

    @Test("an input of a namespace is named by its root and the path behind it")
    func namespaceInput() throws {
        let input = try Rule.compile("env.locale", in: makeScope()).inputs[0]
        #expect(input.root == "env")
        #expect(input.path == [.key("locale")])
        #expect(input.variable == "env.locale")
    }

    @Test("a branch that is not taken is not read")
    func branches() throws {
        let values = bindings(["x": 1, "y": 2, "numbers": [1, 2, 3], "user": ["a": 1]])
        #expect(try reads("x > 5 && y > 0", values) == ["x"])
        #expect(try reads("x < 5 || y > 0", values) == ["x"])
        #expect(try reads("x < 5 ? 1 : y", values) == ["x"])
        #expect(try reads("numbers.exists(n, n > 0 || n > y)", values) == ["numbers"])
        #expect(try reads("cel.bind(a, y, x)", values) == ["x"])
        #expect(try reads("optional.of(1).orValue(y)", values) == [])
        #expect(try reads("has(user.b) ? user.b : 0", values) == ["has(user.b)"])
    }

    @Test("an input is read once, however often it is named")
    func once() throws {
        let values = bindings(["x": 1, "numbers": [1, 2, 3]])
        #expect(try reads("x + x * x", values) == ["x"])
        #expect(try reads("numbers.map(n, n + x).size()", values) == ["numbers", "x"])
        #expect(try reads("x > 5 ? 0 : x", values) == ["x"])
    }

    @Test("operands after a failing one are not read")
    func failedOperand() throws {
        let values = bindings(["y": 1])
        // One that failed may be asked for again where its failure counts.
        #expect(Set(try reads("x - y > 0 || true", values)) == ["x"])
        #expect(Set(try reads("y - x > 0 || true", values)) == ["x", "y"])
    }

    @Test(
        "an evaluation lets go of the values it held, however it ends",
        arguments: [
            "anything == 1", "[anything].size() + 1", "[anything].map(a, a).size() + 1",
            "[1].map(n, anything).size() + n",
            "anything + 1", "anything > 5 || true", "x > 0 ? anything : 1",
        ])
    func lettingGo(_ rule: String) throws {
        final class Book: OpaqueValue {
            override var typeName: String { "Book" }
        }
        let evaluator = Evaluator()
        let program = try Rule.compileUnchecked(rule, in: makeScope())
        weak var book: Book?
        do {
            let made = Book()
            book = made
            let content = evaluator.evaluate(program, bindings: bindings(["x": 1, "anything": .opaque(made)]))
            #expect(content != .value(.null))
        }
        #expect(book == nil)
    }

    @Test("an index that is computed reads that element alone")
    func dynamicPaths() throws {
        let values = bindings(["x": 1, "items": [["name": "a"], ["name": "b"]], "user": ["a": ["k": 7]], "name": "a"])
        #expect(try reads("items[x].name", values) == ["x", "items[1].name"])
        #expect(try reads("user[name].k", values) == ["name", "user.a.k"])
        #expect(try reads("[0, 1].map(i, items[i].name)", values) == ["items[0].name", "items[1].name"])
    }

    @Test("an optional select asks for presence before it reads")
    func optionalPaths() throws {
        #expect(try reads("user.?age.orValue(1)", bindings(["user": ["age": 3]])) == ["has(user.age)", "user.age"])
        #expect(try reads("user.?age.orValue(1)", bindings(["user": ["b": 3]])) == ["has(user.age)"])
    }

    @Test("an interruption ends the evaluation wherever it comes, and absorbs into nothing")
    func interruption() throws {
        let values = bindings(["x": 1, "y": 2, "numbers": [1, 2, 3], "anything": 1])
        let evaluator = Evaluator()
        for rule in [
            "x > 0 && y > 0", "anything > 5 || true", "numbers.exists(n, n > y || true)", "x > 0 ? y : 1", "x + y",
            "[x, y]",
        ] {
            let program = try Rule.compile(rule, in: makeScope())
            var reads = 0
            while true {
                var reader = InterruptingReader(inner: BindingsReader(program, values), remaining: reads)
                let outcome = evaluator.evaluate(program, &reader)
                if case .interrupted = outcome {
                    #expect(reader.wasInterrupted)
                    reads += 1
                } else {
                    #expect(!reader.wasInterrupted)
                    break
                }
            }
            #expect(reads >= 1)
        }
    }

    @Test("a failure that an input holds is an error like any other, and passes on unchanged")
    func failures() throws {
        struct FailingReader: RuleReader {
            let failure: Failure
            mutating func read(_ input: Int, into register: InputRegister) -> Reading { .failure(failure) }
            mutating func read(_ input: Int, at steps: [AttributePath.Step], into register: InputRegister) -> Reading {
                .failure(failure)
            }
        }
        let failure = Failure(.cycle, "a cycle", path: "/a.b")
        let evaluator = Evaluator()
        func run(_ rule: String) throws -> Content? {
            var reader = FailingReader(failure: failure)
            guard case .content(let content) = evaluator.evaluate(try Rule.compile(rule, in: makeScope()), &reader)
            else { return nil }
            return content
        }
        #expect(try run("x + 1")?.failure === failure)
        #expect(try run("x > 0 || true") == .value(true))
        #expect(try run("x > 0 && false") == .value(false))
        #expect(try run("[1, 2].exists(n, n == 2 || x > n)") == .value(true))
        #expect(try run("cel.bind(a, x, 1)") == .value(1))
    }
}
