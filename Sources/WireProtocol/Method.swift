import AttributeValues

/// A method of the protocol: its parameters, the reading of its calls, and its result. `Method.table` contains all
/// methods. Requests are checked against it, and `describe` returns it.
public struct Method {
    public var name: String
    public var summary: String
    public var parameters: [Parameter]
    public var result: Shape
    /// The codes of this method's refusals, besides JSON-RPC's own.
    public var errors: [ErrorCode]
    /// nil if every connected client may call the method.
    public var need: Need?
    /// Makes the request from the parameters. Their shapes have been checked, and no required one is missing.
    let read: (Parameters) throws(Failure) -> Request
}

/// The right that a method needs, and its subject. `Request.forEachNeed` names the paths of a call.
public struct Need {
    public var right: AccessRight
    /// A description for people.
    public var subject: String

    init(_ right: AccessRight, on subject: String) {
        self.right = right
        self.subject = subject
    }
}

/// A parameter with its key in `Parameters`.
public struct Parameter {
    public var key: ParameterKey
    public var field: Field

    static func required(_ key: ParameterKey, _ shape: Shape, _ meaning: String) -> Parameter {
        Parameter(key: key, field: .required(key.name, shape, meaning))
    }

    static func optional(
        _ key: ParameterKey, _ shape: Shape, default fallback: Value? = nil, _ meaning: String
    ) -> Parameter {
        Parameter(key: key, field: .optional(key.name, shape, default: fallback, meaning))
    }
}

/// All parameter names of the protocol. A case has the spelling of the protocol.
public enum ParameterKey: Int, CaseIterable {
    case animation, arguments, `as`, at, bindings, bookmarks, brief, by, changes, client, count, css, depth,
        disablesAnimations,
        document, dryRun,
        elapsed, enable, error, events
    case expression, format, forward, frames, from, `if`, index, initial, label, layer, maxRate, mode, motions,
        mutations, once, panel,
        path, paths, points, presentation, reports, result, revision
    case since, speed, structure, subscription, time, to, typed, value, writers

    /// The name as a string, for tables and faults. Built at each call.
    public var name: String { "\(self)" }
}

/// A set of parameter names in one word.
struct ParameterKeys {
    private var bits: UInt64 = 0

    init() { precondition(ParameterKey.allCases.count <= UInt64.bitWidth) }

    init(_ keys: [ParameterKey]) {
        self.init()
        for key in keys { bits |= 1 << UInt64(key.rawValue) }
    }

    func contains(_ key: ParameterKey) -> Bool { bits >> UInt64(key.rawValue) & 1 == 1 }

    func contains(_ others: ParameterKeys) -> Bool { others.bits & ~bits == 0 }

    mutating func insert(_ key: ParameterKey) { bits |= 1 << UInt64(key.rawValue) }
}
