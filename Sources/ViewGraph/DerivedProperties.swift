import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// The computed properties of objects that are values: elements of lists and the like. Such an object is a map of its
/// stored properties, so each computed one that somebody reads has a vertex beside it, which all readers share.
struct DerivedProperties {
    /// By the place where the property would be.
    private(set) var vertices: [Place: AttributeID] = [:]
    private var places: [AttributeID: Place] = [:]

    mutating func add(_ vertex: AttributeID, at place: Place) {
        vertices[place] = vertex
        places[vertex] = place
    }

    var count: Int { vertices.count }

    /// Forgets a vertex, if it is one of these.
    mutating func remove(_ vertex: AttributeID) {
        if places.isEmpty { return }
        guard let place = places.removeValue(forKey: vertex) else { return }
        vertices[place] = nil
    }
}

extension Wiring {
    /// The vertex for a place at, or in, a computed property of an object that is a value; nil for other places.
    func derivedVertex(for place: Place) -> AttributeID? {
        guard !declarations.types.isEmpty, !place.steps.isEmpty,
            let (whole, around) = wholeAndSteps(of: place.attribute)
        else { return nil }
        let type = record(whole).type
        guard type != .dyn, type.mayHaveObjects else { return nil }
        for position in place.steps.indices {
            guard case .key(let key) = place.steps[position],
                let name = declarations.type(at: around + place.steps[..<position], in: type).objectName,
                let property = declarations.types[name]?.properties.first(where: { $0.name.hasSameBytes(as: key) }),
                case .computed(let program) = property.role
            else { continue }
            let object = Place(place.attribute, Array(place.steps[..<position]))
            let vertex = derivedVertex(of: object, property, program)
            let rest = Array(place.steps[(position + 1)...])
            return rest.isEmpty ? vertex : projectionVertex(of: vertex, at: rest)
        }
        return nil
    }

    /// The attribute in whose value a vertex is a place, and the steps to it.
    private func wholeAndSteps(of vertex: AttributeID) -> (AttributeID, [AttributePath.Step])? {
        guard let record = attributes[vertex] else { return nil }
        guard let entry = record.place else { return (vertex, []) }
        return (entry.tree.whole, entry.steps)
    }

    private func derivedVertex(of object: Place, _ property: AttributeDefinition, _ program: Program) -> AttributeID {
        let place = object.inside([.key(property.name)])
        if let known = derived.vertices[place] { return known }
        let owner = record(object.attribute)
        let name = owner.name + place.steps.map(\.description).joined()
        let made = createRule(
            node: owner.node, name: name, kind: .clock, type: property.type, source: .unconnected)
        // Known before its inputs, which may be other properties of the object.
        derived.add(made, at: place)
        connectNew(made, to: .rule(derivedRule(of: object, property, program, at: made)))
        sharing.noteIdle(made)
        return made
    }

    private func derivedRule(
        of object: Place, _ property: AttributeDefinition, _ program: Program, at vertex: AttributeID
    ) -> BoundRule {
        let inputs = program.inputs.map { input -> BoundInput in
            let whole = object.inside([.key(input.variable)])
            if input.isDynamic { return .dynamic(whole) }
            let part = whole.inside(input.steps)
            guard input.isPresence else { return .attribute(self.vertex(for: part)) }
            return .presence(self.vertex(for: part), of: self.vertex(for: Place(part.attribute, part.steps.dropLast())))
        }
        let accepted = property.type.mustConvert(program.resultType.valueType) ? property.type : nil
        return BoundRule.obtain(program: program, accepted: accepted, inputs: inputs, at: .init(vertex))
    }

    /// Gives the properties the rules of types that were declared again.
    func renewDerived() {
        for (place, vertex) in derived.vertices {
            guard engine.isAlive(vertex), case .key(let key)? = place.steps.last else { continue }
            let object = Place(place.attribute, place.steps.dropLast())
            guard let (whole, around) = wholeAndSteps(of: object.attribute) else { continue }
            let name = declarations.type(at: around + object.steps, in: record(whole).type).objectName
            let property = name.flatMap { declarations.types[$0]?.properties.first { $0.name.hasSameBytes(as: key) } }
            if let property, case .computed(let program) = property.role {
                setSource(.rule(derivedRule(of: object, property, program, at: vertex)), of: vertex)
            } else {
                setSource(.literal(.failure(Failure(.ruleFailed, "no such key: \(key)"))), of: vertex)
            }
        }
    }
}

extension ValueType {
    /// True if objects may be in values of the type.
    fileprivate var mayHaveObjects: Bool {
        switch self {
        case .object: true
        case .list(let inner), .optional(let inner), .nullable(let inner), .map(_, let inner): inner.mayHaveObjects
        default: false
        }
    }
}
