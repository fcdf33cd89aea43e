import AGClient
import AttributeValues
import LinkProtocol
import WireProtocol

/// A write to a mirror on its way to the owner: JSON in a request of NATS. Paths begin at the root of the site.
struct ForwardedCall {
    var method: String
    var parameters: ValueMap
    /// For whom the owner performs it.
    var principal: String

    var json: [UInt8] {
        let text: Value = [
            "method": .string(method), "params": .map(parameters), "principal": .string(principal),
        ]
        return Array(text.jsonText.utf8)
    }

    init(method: String, parameters: ValueMap, principal: String) {
        (self.method, self.parameters, self.principal) = (method, parameters, principal)
    }

    /// - Throws: `invalid`.
    init(json: [UInt8]) throws(Failure) {
        guard let map = try JSONParser.parseOnce(json).map, let method = map["method"]?.string,
            let parameters = map["params"]?.map, let principal = map["principal"]?.string
        else { throw Failure(.invalid, "the request is not agd-link's", hint: "update agd-link on both machines") }
        self.init(method: method, parameters: parameters, principal: principal)
    }

    /// The same with other paths.
    func mapPaths(_ change: (AttributePath) throws(Failure) -> AttributePath) throws(Failure) -> ForwardedCall {
        var call = self
        if let path = parameters["path"]?.string {
            call.parameters["path"] = .string(try change(AttributePath(path)).description)
        }
        if let list = parameters["mutations"]?.list {
            var mutations: [Value] = []
            for mutation in list {
                guard var map = mutation.map, let path = map["path"]?.string else { continue }
                map["path"] = .string(try change(AttributePath(path)).description)
                mutations.append(.map(map))
            }
            call.parameters["mutations"] = .list(mutations)
        }
        return call
    }

    /// - Throws: `invalid`.
    func request() throws(Failure) -> Request {
        let isTyped = parameters["typed"] == true
        func value(_ json: Value) throws(Failure) -> Value {
            isTyped ? try Value(typedJSON: json) : json
        }
        let options = TransactionOptions(
            animation: parameters["animation"], disablesAnimations: parameters["disablesAnimations"] == true,
            label: parameters["label"]?.string, typed: isTyped, once: parameters["once"]?.string,
            elapsed: parameters["elapsed"]?.number ?? 0)
        let path = parameters["path"]?.string ?? ""
        switch method {
        case "set":
            let value = try value(parameters["value"] ?? .null)
            return .set(Mutation(operation: .set, path: path, value: value), options)
        case "transact":
            var mutations: [Mutation] = []
            for entry in parameters["mutations"]?.list ?? [] {
                guard let map = entry.map, let operation = Mutation.Operation(rawValue: map["op"]?.string ?? "") else {
                    throw Failure(.invalid, "a mutation without a known op")
                }
                var operand: Value?
                if let json = map["value"] { operand = try value(json) }
                mutations.append(
                    Mutation(
                        operation: operation, path: map["path"]?.string ?? "", value: operand,
                        index: map["index"]?.number.map { Int($0) }))
            }
            return .transact(mutations, options)
        case "do":
            var arguments = ValueMap()
            for (name, json) in parameters["arguments"]?.map ?? ValueMap() { arguments[name] = try value(json) }
            return .do(path: RequestPath(path), arguments: arguments, options)
        default: throw Failure(.invalid, "the owner performs no '\(method)'")
        }
    }
}

/// The owner's answer to a `ForwardedCall`.
struct ForwardedReply {
    var result: ValueMap?
    var failure: Failure?
    /// What a mirror must have reached before its client hears of the result.
    var position: Position?

    init(failure: Failure) { self.failure = failure }

    init(result: ValueMap, position: Position) {
        (self.result, self.position) = (result, position)
    }

    var json: [UInt8] {
        var map = ValueMap()
        if let position { (map["term"], map["revision"]) = (.uint(position.term), .uint(position.revision)) }
        if let result { map["result"] = .map(result) }
        if let failure {
            var error = ValueMap([("code", .string(failure.code.rawValue)), ("message", .string(failure.message))])
            if let path = failure.path { error["path"] = .string(path) }
            if let hint = failure.hint { error["hint"] = .string(hint) }
            map["error"] = .map(error)
        }
        return Array(Value.map(map).jsonText.utf8)
    }

    init(json: [UInt8]) throws(Failure) {
        guard let map = try JSONParser.parseOnce(json).map else { throw Failure(.invalid, "the owner's answer") }
        result = map["result"]?.map
        failure = map["error"]?.map.map { Failure($0) }
        position = Position(map["term"], map["revision"])
    }
}

/// Connections to the owner's daemon, one for each principal that has written lately.
struct PrincipalConnections {
    private static let maximum = 16
    private let socket: String?
    private let timeout: Double
    private var connections: [String: Connection] = [:]

    init(_ settings: Configuration) {
        socket = settings.socket
        timeout = max(5, settings.liveTime)
    }

    /// Performs a request with the rights of its principal.
    mutating func perform(_ call: ForwardedCall, below root: [String]) -> Result<ValueMap, Failure> {
        do {
            let request = try call.mapPaths { (path) throws(Failure) in
                AttributePath(nodes: root + path.nodes, attribute: path.attribute, steps: path.steps)
            }.request()
            try PrincipalName.check(call.principal)
            let connection: Connection
            if let known = connections[call.principal] {
                connection = known
            } else {
                if connections.count >= PrincipalConnections.maximum { connections = [:] }
                connection = try Connection(
                    to: .find(socket), name: "agd-link", as: call.principal, typed: true, timeout: timeout)
                connections[call.principal] = connection
            }
            return .success(try connection.call(request).map ?? ValueMap())
        } catch let error as Failure {
            return .failure(error)
        } catch let error as ClientError {
            if let failure = error.failure { return .failure(failure) }
            connections[call.principal] = nil
            return .failure(Failure(.unavailable, "the owner's daemon: \(error): outcome unknown"))
        } catch {
            return .failure(Failure(.unavailable, "\(error)"))
        }
    }
}
