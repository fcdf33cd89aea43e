// Places inside a value: selecting a part, and making a value in which the part is replaced.

extension AttributePath {
    /// Maximum number of steps from the root of a value to a place inside it. Together with the depth limit of
    /// documents, it bounds the depth of every value.
    public static let maximumSteps = 64
}

extension Value {
    /// The element at a step; nil if there is none. For `[id="x"]`, the list is searched from the front.
    public func child(_ step: AttributePath.Step) -> Value? {
        switch (step, self) {
        case (.key(let name), .map(let map)): return map[name]
        case (.index(let index), .list(let elements)): return elements.indices.contains(index) ? elements[index] : nil
        case (.index(let index), .map(let map)): return map[.int(Int64(index))]
        case (.element, .list(let elements)): return position(of: step, in: elements).map { elements[$0] }
        case (.index(let index), .opaque(let opaque)):
            guard let vector = opaque as? VectorValue, vector.components.indices.contains(index) else { return nil }
            return .double(vector.components[index])
        case (_, .optional(let wrapped?)): return wrapped.child(step)
        default: return nil
        }
    }

    /// The id of an element of a list: its value under a key or, if there is none, at the end of a key path such as
    /// `meta.uuid`. nil if this is not a map.
    public func id(by field: String) -> Value? {
        guard case .map(let map) = self else { return nil }
        if let id = map[field] { return id }
        guard field.utf8.contains(UInt8(ascii: ".")) else { return nil }
        var part = self
        for name in field.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .map(let map) = part, let next = map[String(name)] else { return nil }
            part = next
        }
        return part
    }

    /// The part at the end of the steps, or a failure (`notFound`) that names the step without an element.
    public func select(_ steps: some Collection<AttributePath.Step>) -> Content {
        var value = self
        for step in steps {
            guard let next = value.child(step) else { return .failure(value.missing(step)) }
            value = next
        }
        return .value(value)
    }

    /// The same for one step.
    public func select(_ step: AttributePath.Step) -> Content {
        if let next = child(step) { .value(next) } else { .failure(missing(step)) }
    }

    /// A copy of this value with a changed part. Every step but the last must exist. The last may name a new key of a
    /// map. Cost: O(entries of the containers on the path), which are copied.
    /// - Throws: `notFound` if a step leads nowhere, or the error of `change`. This value does not change.
    public func changing(
        _ steps: some Collection<AttributePath.Step>, _ change: (Value?) throws(Failure) -> Value?
    ) throws(Failure) -> Value {
        let steps = Array(steps)
        guard let last = steps.last else {
            guard let changed = try change(self) else { throw Failure(.invalid, "the whole value cannot be removed") }
            return changed
        }
        var way: [(container: Value, step: AttributePath.Step)] = []
        var innermost = self
        for step in steps.dropLast() {
            let known = innermost.known(step)
            guard let next = innermost.child(known) else { throw innermost.missing(step) }
            way.append((innermost, known))
            innermost = next
        }
        let place = innermost.known(last)
        var changed = try innermost.storing(try change(innermost.child(place)), at: place)
        for (container, step) in way.reversed() { changed = try container.storing(changed, at: step) }
        return changed
    }

    /// A step to an existing element, as its index.
    private func known(_ step: AttributePath.Step) -> AttributePath.Step {
        guard case .element = step, case .list(let list) = self else { return step }
        return position(of: step, in: list).map { .index($0) } ?? step
    }

    /// This container with one child replaced, added (a new key of a map) or removed (nil).
    private func storing(_ child: Value?, at step: AttributePath.Step) throws(Failure) -> Value {
        switch (step, self) {
        case (.key(let name), .map(var map)):
            if child == nil, map[name] == nil { throw missing(step) }
            map[name] = child
            return .map(map)
        case (.index(let index), .map(var map)):
            if child == nil, map[.int(Int64(index))] == nil { throw missing(step) }
            map[.int(Int64(index))] = child
            return .map(map)
        case (.index, .list(var elements)), (.element, .list(var elements)):
            guard let position = position(of: step, in: elements) else { throw missing(step) }
            if let child { elements[position] = child } else { elements.remove(at: position) }
            return .list(elements)
        case (.index(let index), .opaque(let opaque)):
            guard let vector = opaque as? VectorValue, vector.components.indices.contains(index) else {
                throw missing(step)
            }
            guard let number = child?.number else {
                throw Failure(
                    .typeMismatch, "a component of a vector is a double, not \(child.map(\.shortTypeName) ?? "nothing")"
                )
            }
            var components = vector.components
            components[index] = number
            return .opaque(VectorValue(components))
        case (_, .optional(let wrapped?)): return .optional(try wrapped.storing(child, at: step))
        default: throw missing(step)
        }
    }

    private func position(of step: AttributePath.Step, in elements: ValueList) -> Int? {
        switch step {
        case .index(let index): elements.indices.contains(index) ? index : nil
        case .element(let field, let value): elements.position(of: value, by: field)
        case .key: nil
        }
    }

    private func missing(_ step: AttributePath.Step) -> Failure {
        switch (step, self) {
        case (.key(let name), .map): Failure(.notFound, "no such key: \(name)")
        case (.index(let index), .list): Failure(.notFound, "index out of bounds: \(index)")
        case (.element(let field, let value), .list): Failure(.notFound, "no element whose \(field) is \(value)")
        default: Failure(.notFound, "a value of type \(shortTypeName) has no \(step)")
        }
    }
}
