import AttributeValues

// Reads the larger parts of requests from parameters whose shapes have been checked.
extension Parameters {
    func moment(_ key: ParameterKey) throws(Failure) -> PastTime? {
        guard let value = self[key]?.value else { return nil }
        return try PastTime(value)
    }

    func path() -> String { text(.path) ?? "/" }

    func target() -> RequestPath { self[.path]?.stringBytes.map(paths.path) ?? RequestPath("/") }

    /// - Parameter isTyped: true for methods that take values.
    func transactionOptions(isTyped: Bool = false, once: String? = nil, elapsed: Double? = nil) -> TransactionOptions {
        TransactionOptions(
            animation: self[.animation]?.value, disablesAnimations: flag(.disablesAnimations), label: text(.label),
            typed: isTyped, once: once, elapsed: elapsed ?? 0)
    }

    /// The options of methods that write values at once.
    func writeOptions() -> TransactionOptions {
        guard hasOthers(than: Parameters.written) else { return TransactionOptions() }
        return transactionOptions(isTyped: flag(.typed), once: text(.once), elapsed: self[.elapsed]?.number)
    }

    /// With the option that only `transact` has.
    func transactOptions() -> TransactionOptions {
        var options = writeOptions()
        if let motions = self[.motions]?.value.list { options.motions = Array(motions) }
        return options
    }

    /// The parameters that contain the writes.
    private static let written = ParameterKeys([.path, .value, .mutations, .arguments])

    func mutations() throws(Failure) -> [Mutation] {
        var mutations: [Mutation] = []
        try self[.mutations]?.forEachElement { (element) throws(Failure) in
            let position = mutations.count
            guard let word = element["op"]?.string, let operation = Mutation.Operation(rawValue: word),
                let path = element["path"]?.stringBytes.map(paths.path)
            else { preconditionFailure("a mutation has been checked for its members") }
            let value = element["value"]
            guard operation.takesValue == (value != nil) else {
                let rule = operation.takesValue ? "needs a value" : "takes no value"
                throw Failure(.invalid, "mutations[\(position)]: \(word) \(rule)", path: path.text)
            }
            let index = element["index"]?.int
            guard index == nil || operation == .insert else {
                throw Failure(.invalid, "mutations[\(position)]: only insert takes an index", path: path.text)
            }
            mutations.append(
                Mutation(operation: operation, target: path, value: value?.value, index: index.map { Int($0) }))
        }
        return mutations
    }

    func subscription() throws(Failure) -> Request.Subscribe {
        var events: EventKinds = self[.events] == nil ? .update : []
        for word in texts(.events) ?? [] {
            for (name, kind) in EventKinds.names where name == word { events.insert(kind) }
        }
        let frameRate = self[.frames]?["rate"]?.number
        let patterns = texts(.paths) ?? []
        guard !patterns.isEmpty, !events.isEmpty || frameRate != nil else {
            throw Failure(.invalid, "subscribe: \(patterns.isEmpty ? "paths" : "events") must not be empty")
        }
        return Request.Subscribe(
            patterns: patterns, events: events, initial: optionalFlag(.initial),
            since: self[.since].flatMap(Request.Position.init),
            maxRate: self[.maxRate]?.number, frameRate: frameRate, css: flag(.css), typed: flag(.typed),
            bookmarks: flag(.bookmarks), writers: flag(.writers), reports: flag(.reports))
    }
}

extension Mutation.Operation {
    public var takesValue: Bool {
        switch self {
        case .set, .add, .append, .insert, .merge, .test: true
        case .toggle, .remove: false
        }
    }
}

extension EventKinds {
    /// The kinds by their names in the parameter `events` of `subscribe`.
    public static let names: [(name: String, kind: EventKinds)] = [
        ("update", .update), ("invalidate", .invalidate), ("structure", .structure), ("frames", .frames),
        ("completion", .completion),
    ]
}

extension Request.Position {
    /// - Parameter json: an object whose members have been checked.
    init?(_ json: JSONElement) {
        guard let epoch = json["epoch"]?.string, let revision = json["revision"]?.int else { return nil }
        self.init(epoch: epoch, revision: UInt64(revision))
    }
}
