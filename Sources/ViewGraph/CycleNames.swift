import AttributeGraph

/// Names cycles for people.
struct CycleNames {
    unowned(unsafe) private let graph: Wiring

    init(_ graph: Wiring) { self.graph = graph }

    /// A message names at most so many steps from the beginning of a cycle and as many from its end.
    private static let toldSteps = 8

    /// The names of the attributes in a cycle, each once, including the values of modifiers and what containers gather.
    /// Begins with an attribute that a document names, if there is one. Of a long cycle only the beginning and the end
    /// are named.
    func nameSteps(of cycle: [AttributeID]) -> [String] {
        let first =
            cycle.firstIndex { !graph.isUnnamed($0) && graph.attributes[$0]?.place == nil } ?? 0
        let way = Array(cycle[first...] + cycle[..<first])
        let told = CycleNames.toldSteps
        // Neighbours may have the same name.
        guard way.count > 4 * told else {
            var names = stepNames(way[...])
            if names.count > 1, names.first == names.last { names.removeLast() }
            guard names.count > 2 * told else { return names }
            return names.prefix(told) + ["\(names.count - 2 * told) more"] + names.suffix(told)
        }
        return stepNames(way.prefix(2 * told)).prefix(told) + ["\(way.count - 2 * told) more"]
            + stepNames(way.suffix(2 * told)).suffix(told)
    }

    private func stepNames(_ steps: ArraySlice<AttributeID>) -> [String] {
        var names: [String] = []
        for attribute in steps {
            guard let record = graph.attributes[attribute] else { continue }
            let name: String
            if graph.nodes[record.node].instances?.data == attribute {
                name = graph.elementsPath(of: record.node)
            } else if graph.isUnnamed(attribute), record.place == nil, !graph.nodes[record.node].isObject {
                // The field of an override has the name of the override, and another word.
                name = graph.nodes.path(of: record.node) + "." + record.name.prefix { $0 != " " }
            } else {
                name = graph.path(of: attribute)
            }
            if names.last != name { names.append(name) }
        }
        return names
    }
}
