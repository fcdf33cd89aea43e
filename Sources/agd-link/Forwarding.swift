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
        let text: Value = ["method": .string(method), "params": .map(parameters), "principal": .string(principal)]
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

    /// A denial with the line that allows the write: the daemon does not tell it to a principal without any right.
    func explaining(_ failure: Failure, below root: [Name]) -> Failure {
        guard failure.code == .denied, failure.hint?.contains("access = ") != true else { return failure }
        let given = parameters["path"]?.string ?? parameters["mutations"]?.list?.first?.map?["path"]?.string
        guard
            let path = failure.path
                ?? given.flatMap({ try? AttributePath($0) }).map({ path in
                    AttributePath(nodes: root + path.nodes, attribute: path.attribute, steps: []).description
                })
        else { return failure }
        let line = "access = \(method == "do" ? "do" : "write") as:\(principal) \(path)"
        return Failure(
            .denied, failure.message, path: path, hint: "a line of the daemon's configuration gives it: \(line)")
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
}

/// The owner's answer to a `ForwardedCall`.
struct ForwardedReply {
    var result: ValueMap?
    var failure: Failure?
    /// The position that a mirror must reach before its client gets the result.
    var position: Position?

    init(failure: Failure) { self.failure = failure }

    init(result: ValueMap, position: Position? = nil) { (self.result, self.position) = (result, position) }

    var json: [UInt8] {
        var map = ValueMap()
        if let position { (map["term"], map["revision"]) = (.uint(position.term), .uint(position.revision)) }
        if let result { map["result"] = .map(result) }
        if let failure { map["error"] = failure.json }
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
        timeout = settings.callTime
    }

    /// Performs a request with the rights of its principal.
    mutating func perform(_ call: ForwardedCall, below root: [Name]) -> Result<ValueMap, Failure> {
        do {
            // An owner performs these methods for another machine. The daemon checks the parameters and the principal's
            // rights.
            guard ["set", "transact", "do"].contains(call.method) else {
                throw Failure(.invalid, "the owner performs no '\(call.method)'")
            }
            let call = try call.mapPaths { (path) throws(Failure) in
                AttributePath(nodes: root + path.nodes, attribute: path.attribute, steps: path.steps)
            }
            try PrincipalName.check(call.principal)
            let connection: Connection
            if let known = connections[call.principal] {
                connection = known
            } else {
                if connections.count >= PrincipalConnections.maximum { connections = [:] }
                connection = try Connection(to: .find(socket), name: "agd-link", as: call.principal, timeout: timeout)
                connections[call.principal] = connection
            }
            return .success(try connection.call(call.method, .map(call.parameters)).map ?? ValueMap())
        } catch let error as Failure { return .failure(error) } catch let error as ClientError {
            if let failure = error.failure { return .failure(call.explaining(failure, below: root)) }
            connections[call.principal] = nil
            return .failure(Failure(.unavailable, "the owner's daemon: \(error): outcome unknown"))
        } catch { return .failure(Failure(.unavailable, "\(error)")) }
    }
}
