import AttributeValues
import Testing

@testable import RuleLanguage

/// A scope as rules of a node have it.
func makeScope() -> RuleScope {
    let scope = RuleScope()
    scope.declare("x", RuleType.int)
    scope.declare("y", RuleType.int)
    scope.declare("name", RuleType.string)
    scope.declare("user", RuleType.map(.string, .dyn))
    scope.declare("items", RuleType.list(.map(.string, .dyn)))
    scope.declare("numbers", RuleType.list(.int))
    scope.declare("maybe", RuleType.wrapper(.int))
    scope.declare("anything", RuleType.dyn)
    scope.declareNamespace("env", keysAre: "environment key", ["locale": .string, "lineLimit": .wrapper(.int)])
    scope.declareObject("Library", properties: ["books": .list(.dyn), "count": .int])
    scope.declare("library", RuleType.abstract("Library", []))
    return scope
}

func evaluate(_ rule: String, _ bindings: ValueMap = ValueMap(), in scope: RuleScope = makeScope()) throws -> Content {
    Evaluator().evaluate(try Rule.compile(rule, in: scope), bindings: bindings)
}

func errors(of rule: String, in scope: RuleScope = makeScope()) -> [RuleError] {
    do throws(RuleErrors) {
        _ = try Rule.compile(rule, in: scope)
        return []
    } catch {
        return error.errors
    }
}

func bindings(_ entries: KeyValuePairs<String, Value>) -> ValueMap {
    ValueMap(entries.map { (.string($0.key), $0.value) })
}

/// Notes what is read.
struct RecordingReader: RuleReader {
    var inner: BindingsReader
    let program: Program
    private(set) var reads: [String] = []

    init(_ program: Program, _ bindings: ValueMap) {
        inner = BindingsReader(program, bindings)
        self.program = program
    }

    mutating func read(_ input: Int, into register: InputRegister) -> Reading {
        reads.append("\(program.inputs[input])")
        return inner.read(input, into: register)
    }

    mutating func read(_ input: Int, at steps: [AttributePath.Step], into register: InputRegister) -> Reading {
        reads.append(program.inputs[input].variable + steps.map(\.description).joined())
        return inner.read(input, at: steps, into: register)
    }
}
