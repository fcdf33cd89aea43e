import AttributeGraph
import AttributeValues
import SceneModel

// Writing a whole object: each property gets its part, so only readers of changed properties run.

extension TransactedWiring {
    /// Replaces an object by another of its type in the open transaction. A stored property that the new object does
    /// not name gets the initial value of the type. A computed property may be named with its present value.
    /// - Throws: `typeMismatch`, `notFound` for a property that the type does not have, `readOnly` for a computed one,
    ///   `limit`; then nothing was written.
    func write(
        object: NodeRow, in state: AttributeID, _ animation: String?, _ path: AttributePath, isKept: Bool,
        _ change: (Value?) throws(Failure) -> Value?
    ) throws(Failure) {
        guard let new = try change(.map(storedProperties(of: object))) else {
            throw Failure(
                .invalid, "\(path) is an object, which can be removed only together with its node",
                path: path.description)
        }
        var writes: [(AttributeID, Value)] = []
        // An explicit stack: objects contain objects as deep as their types say.
        var pending = [(object, state, new, path)]
        while let (object, state, value, path) = pending.popLast() {
            guard case .map(let map) = value else {
                throw mismatch(record(state).type, value, Place(state), Place(state), path)
            }
            try refuseUnknown(map, in: object, path)
            for (name, attribute) in nodes[object].attributes {
                let record = record(attribute)
                switch record.source {
                case .state:
                    guard let part = map[name] ?? initialValue(of: record) else { continue }
                    let path = path.appending(.key(name))
                    var bytesLeft: Int?
                    let fitting =
                        isKept
                        ? declarations.accept(part, as: record.type)
                        : try acceptWhole(part, as: record.type, at: path, mayGrow: true, bytesLeft: &bytesLeft)
                    guard let accepted = fitting
                    else {
                        throw mismatch(record.type, part, Place(attribute), Place(attribute), path)
                    }
                    writes.append((attribute, accepted))
                case .object(let inner):
                    pending.append((inner, attribute, map[name] ?? .map(ValueMap()), path.appending(.key(name))))
                default:
                    guard let given = map[name], content(of: attribute) != .value(given) else { continue }
                    throw Failure(
                        .readOnly, "\(path).\(name) is computed, which cannot be written", path: path.description,
                        hint: "leave \(name) out")
                }
            }
        }
        for (attribute, value) in writes { stage(value, for: Place(attribute), animation) }
    }

    /// True if a value that was read equals a given one: as rules compare them, or because a write of the given value
    /// would result in it.
    public func isEqual(_ found: Value, _ given: Value, at place: Place) -> Bool {
        let stands = follow(place)
        var found = found
        if found.isEqual(to: given) { return true }
        // Computed properties of an object are not written.
        if case .object(let object) = record(stands.attribute).source, stands.steps.isEmpty {
            found = .map(storedProperties(of: object))
        }
        return found.isEqual(to: declarations.complete(given, as: declaredType(of: place)))
    }

    private func initialValue(of record: AttributeRecord) -> Value? {
        if case .state(let initial, _)? = record.definition?.role { initial } else { nil }
    }

    private func refuseUnknown(_ map: ValueMap, in object: NodeRow, _ path: AttributePath) throws(Failure) {
        let names = attributeNames(of: object)
        for case .string(let name) in map.keys where !names.contains(name) { throw noProperty(name, of: object, path) }
    }

    func noProperty(_ name: String, of object: NodeRow, _ path: AttributePath) -> Failure {
        Failure(
            .notFound, "\(nodes[object].definition.component ?? "the object") has no property \(name)",
            path: path.description, hint: NearestName.hint(name, among: attributeNames(of: object)))
    }
}

extension AttributePath {
    fileprivate func appending(_ step: Step) -> AttributePath {
        AttributePath(nodes: nodes, attribute: attribute, steps: steps + [step])
    }
}
