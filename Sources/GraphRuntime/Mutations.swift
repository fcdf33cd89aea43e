import AttributeValues
import ViewGraph
import WireProtocol

extension ViewGraph {
    /// Follows a path. O(1) while the tree does not change.
    func locate(_ path: RequestPath) throws(Failure) -> LocatedPath {
        if let known = path.destination as? LocatedPath, isCurrent(known) { return known }
        let found = try locate(text: path.text)
        path.destination = found
        return found
    }

    /// Performs a mutation in the open transaction.
    func perform(_ mutation: Mutation, _ typed: Bool, animation: String? = nil) throws(Failure) {
        let located = try locate(mutation.target)
        if mutation.operation == .set, mutation.hasValue, !typed, animation == nil,
            try write(mutation.operand, toStateAt: located.place, located.path)
        {
            return
        }
        try perform(mutation, at: located.place, located.path, typed: typed, animation: animation)
    }

    /// - Parameters:
    ///   - place: the destination of the mutation's path.
    ///   - animation: the animation of the write.
    func perform(
        _ mutation: Mutation, at place: Place, _ path: AttributePath, typed: Bool, animation: String? = nil
    ) throws(Failure) {
        func write(
            on basis: WriteBasis = .presentValue, _ change: (Value?) throws(Failure) -> Value?
        ) throws(Failure) {
            try self.write(place, through: path, on: basis, animation: animation, change)
        }
        func value() throws(Failure) -> Value {
            guard let value = mutation.value else {
                throw Failure(.invalid, "\(mutation.operation.rawValue) needs a value", path: mutation.path)
            }
            return typed ? try Value(typedJSON: value) : value
        }
        func wrongType(_ wanted: String, _ found: Value?) -> Failure {
            Failure(
                .typeMismatch,
                "\(mutation.operation.rawValue) needs \(wanted) at \(mutation.path), "
                    + "not \(found?.shortTypeName ?? "nothing")", path: mutation.path)
        }
        switch mutation.operation {
        case .set:
            let new = try value()
            try write(on: .nothing) { _ throws(Failure) in new }
        case .toggle:
            try write { old throws(Failure) in
                guard case .bool(let flag)? = old else { throw wrongType("a bool", old) }
                return .bool(!flag)
            }
        case .add:
            let summand = try value()
            try write { old throws(Failure) in
                guard let old else { throw wrongType("a number", nil) }
                return try Arithmetic.sum(old, summand, path: mutation.path)
            }
        case .append:
            let element = try value()
            try write { old throws(Failure) in
                switch (old, element) {
                case (.list(let list)?, _): return .list(list + [element])
                case (.string(let text)?, .string(let more)): return .string(text + more)
                default: throw wrongType("a list (or a string and a string)", old)
                }
            }
        case .insert:
            let element = try value()
            try write { old throws(Failure) in
                guard case .list(var list)? = old else { throw wrongType("a list", old) }
                let index = mutation.index ?? list.count
                guard index >= 0, index <= list.count else {
                    throw Failure(
                        .notFound, "index out of bounds: \(index)", path: mutation.path, hint: "0 to \(list.count)")
                }
                list.insert(element, at: index)
                return .list(list)
            }
        case .remove:
            guard !path.steps.isEmpty || !follow(place, isWritten: true).steps.isEmpty else {
                throw Failure(
                    .invalid, "remove takes an element or entry out of a value; \(mutation.path) is a whole attribute",
                    path: mutation.path, hint: "to remove a node, use the method remove")
            }
            try write { old throws(Failure) in
                guard old != nil else { throw Failure(.notFound, "nothing at \(mutation.path)", path: mutation.path) }
                return nil
            }
        case .merge:
            let patch = try value()
            try write(on: .lastValue(merging: patch)) { old throws(Failure) in (old ?? .null).merging(patch) }
        case .test:
            let expected = try value()
            switch contentInTransaction(at: place) {
            case .failure(let failure):
                throw Failure(
                    .conflict, "test: \(mutation.path) has no value: \(shown(failure, of: place.attribute).message)",
                    path: mutation.path)
            case .value(let found):
                guard isEqual(found, expected, at: place) else {
                    throw Failure(.conflict, "test: \(mutation.path) is \(found), not \(expected)", path: mutation.path)
                }
            }
        }
    }
}

extension ViewGraph {
    /// Performs the writes of an action in the open transaction.
    func perform(_ writes: [ActionWrite], of call: ActionCall) throws(Failure) {
        for write in writes {
            try charge(ViewGraph.stepsPerMutation)
            do throws(Failure) {
                try leading(by: write.action, of: write.typeAuthor) { () throws(Failure) in try perform(write) }
            } catch { throw error.within(call.path) }
        }
    }

    private func perform(_ write: ActionWrite) throws(Failure) {
        try perform(write.mutation, at: write.place, write.path, typed: false, animation: write.animation)
    }
}

extension ActionWrite {
    var mutation: Mutation {
        guard let operation = Mutation.Operation(rawValue: operation.rawValue) else {
            preconditionFailure("an operation of actions that the protocol does not have")
        }
        return Mutation(operation: operation, path: path.description, value: value, index: index)
    }
}
