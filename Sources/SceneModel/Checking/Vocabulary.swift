import AttributeValues
import RuleLanguage

/// The keys, types and components that a document declares or can use, also those of the graph and the system.
final class Vocabulary {
    /// The document's own.
    private(set) var declared = Declarations()
    private(set) var known: Declarations
    /// The names of all object types, declared now or before. Complete before any type is read.
    var typeNames: Set<String>

    init(_ graph: Declarations) {
        known = graph
        typeNames = Set(graph.types.keys)
        for key in SystemEnvironment.keys + SystemEnvironment.others where known.environment[key.name] == nil {
            known.environment[key.name] = key
        }
    }

    // MARK: Declaring

    /// - Parameter written: as in the document.
    func declare(_ key: KeyDefinition, in group: KeyGroup, written: Value) {
        declared.written.keys[group.rawValue, default: [:]][key.name] = written
        declared[group][key.name] = key
        known[group][key.name] = key
    }

    /// Makes a faulty key known, so that its uses are not reported too.
    func admit(faultyKey name: String, in group: KeyGroup) {
        known[group][name] = KeyDefinition(name: name, type: .dyn, defaultValue: .null)
    }

    /// Types of the graph that the document declares anew.
    private(set) var replacedTypes: [String: ObjectTypeDefinition] = [:]

    func declare(_ type: ObjectTypeDefinition, written: Value) {
        replacedTypes[type.name] = known.types[type.name]
        declared.types[type.name] = type
        declared.written.types[type.name] = written
        known.types[type.name] = type
    }

    func declare(_ function: DeclaredFunction, written: Value) {
        declared.functions[function.name] = function
        declared.written.functions[function.head] = written
        known.functions[function.name] = function
    }

    /// Forgets a type of the graph that became too large.
    func forget(type name: String) { known.types[name] = nil }

    func declare(_ component: NodeDefinition, named name: String, written: Value) {
        declared.components[name] = component
        declared.written.components[name] = written
        known.components[name] = component
    }

    // MARK: Types

    /// The type of a rule's results, as an attribute's type.
    func type(of program: Program) -> ValueType { program.resultType.valueType.limited { typeNames.contains($0) } }
}
