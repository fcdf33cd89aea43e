import AttributeValues

/// Values that other programs push: points in InfluxDB's line protocol, and any JSON of webhooks. Each request is one
/// transaction, which merges into a map that the options of the gateway name.
package struct Pushes {
    /// The map that gets the points: `/telegraf.points`.
    private let points: String?
    /// The map that gets the JSON of each hook under its name: `/hooks.received`.
    private let hooks: String?

    package init(points: String? = nil, hooks: String? = nil) {
        self.points = points
        self.hooks = hooks
    }

    private static let hookPrefix = "/hook/"
    private static let pointPaths: Set<String> = ["/write", "/api/v2/write"]
    private static let longestName = 255

    static func isAddressed(_ path: String) -> Bool { pointPaths.contains(path) || path.hasPrefix(hookPrefix) }

    /// The mutation that a request asks for; nil if no option names a map for it.
    func mutation(of request: FrontDoor.Request) throws(Answer) -> Value? {
        let path = request.target.path
        if Pushes.pointPaths.contains(path) {
            guard let points else { return nil }
            do throws(Failure) {
                let entries = try LineProtocol.entries(of: try Pushes.body(of: request), limit: Limits.bodyValues)
                return Pushes.merge(.map(entries), into: points)
            } catch { throw Pushes.refusal(of: error) }
        }
        guard let hooks else { return nil }
        let name = String(path.dropFirst(Pushes.hookPrefix.count))
        guard !name.isEmpty, name.utf8.count <= Pushes.longestName else {
            throw .refusal(.badRequest, "a hook has a name of 1 to \(Pushes.longestName) bytes, as in /hook/github")
        }
        do throws(Failure) {
            let value = try Gateway.parse(try Pushes.body(of: request))
            // A merge would keep what an earlier call had.
            var place = hooks
            place += "[" + Value.string(name).jsonText + "]"
            return ["op": "set", "path": .string(place), "value": value]
        } catch { throw Pushes.refusal(of: error) }
    }

    private static func merge(_ value: Value, into path: String) -> Value {
        ["op": "merge", "path": .string(path), "value": value]
    }

    private static func refusal(of failure: Failure) -> Answer {
        .refusal(failure.code == .limit ? .payloadTooLarge : .badRequest, failure.message, hint: failure.hint)
    }

    /// The body, unpacked if it is packed.
    private static func body(of request: FrontDoor.Request) throws(Failure) -> [UInt8] {
        switch request.headers.first("content-encoding")?.lowercased() {
        case nil, "identity"?: return request.body
        case "gzip"?: break
        case let other?: throw Failure(.invalid, "a body may be packed as gzip, not as \(other)")
        }
        let unpacked = try Gunzip.whole(request.body, limit: Limits.body)
        guard request.memory.take(unpacked.count) else {
            throw Failure(.limit, "requests and streams of this user take too much memory", hint: "try again")
        }
        return unpacked
    }
}
