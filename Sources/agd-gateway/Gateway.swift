import AGClient
import AttributeValues
import FlyingFox
import Foundation
import Synchronization
import WireProtocol

/// What each address answers. Requests for values share one connection to the daemon; each watch has its own.
final class Gateway: HTTPHandler {
    /// Each holds a connection to the daemon and a thread.
    static let maximumWatches = 200

    private static let name = "agd-gateway"

    private let location: SocketLocation
    private let client: Client
    private let hosts: [String]
    private let watches = WatchCount()

    /// - Parameter hosts: the names by which a request may call this machine.
    init(location: SocketLocation, hosts: [String]) throws {
        self.location = location
        client = try Client(at: location, name: Gateway.name)
        self.hosts = hosts.map { $0.lowercased() }
    }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard isAddressed(request) else { return Gateway.refusal(.misdirectedRequest, "this machine is not called so") }
        guard request.method == .GET else { return Gateway.refusal(.methodNotAllowed, "the gateway only reads") }
        do {
            switch request.path {
            case "/value": return try await value(request)
            case "/watch": return try await watch(request)
            case "/metrics": return try await metrics()
            default: return Gateway.refusal(.notFound, "there are /value, /watch and /metrics")
            }
        } catch let error as ClientError {
            return Gateway.refusal(error)
        } catch let unreadable as UnreadableOption {
            return Gateway.refusal(.badRequest, unreadable.description)
        }
    }

    /// A page from elsewhere can make a browser ask here, but not call this machine by its right name.
    private func isAddressed(_ request: HTTPRequest) -> Bool {
        guard let host = request.headers[.host] else { return false }
        return hosts.contains(host.split(separator: ":").first.map { $0.lowercased() } ?? "")
    }

    private func value(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let path = request.query["path"] else { return Gateway.refusal(.badRequest, "which? /value?path=/host.status") }
        let result = try await client.call(
            .get(.init(
                paths: [path], isSingle: true, presentation: try request.flag("presentation"), typed: try request.flag("typed"))))
        return Gateway.json(.ok, result)
    }

    private func metrics() async throws(ClientError) -> HTTPResponse {
        let text = try await client.call(.stats(format: .openmetrics)).map?["text"]?.string ?? ""
        return HTTPResponse(
            statusCode: .ok, headers: [.contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8"],
            body: Data(text.utf8))
    }

    private func watch(_ request: HTTPRequest) async throws -> HTTPResponse {
        let paths = request.query.filter { $0.name == "path" }.map(\.value)
        guard !paths.isEmpty else { return Gateway.refusal(.badRequest, "which? /watch?path=/host/**") }
        let options = WatchOptions(paths: paths, maxRate: try request.rate("maxRate"), css: try request.flag("css"))
        guard let place = watches.take() else {
            return Gateway.refusal(.serviceUnavailable, "\(Gateway.maximumWatches) watches are open")
        }
        try await refuseHopeless(options)
        return HTTPResponse(
            statusCode: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: HTTPBodySequence(from: EventStream(subscription: client.subscribe(options), place: place)))
    }

    /// Asks the daemon once before a status is sent, which cannot be taken back: a browser returns to a stream that breaks off for
    /// ever, but not to a refusal.
    private func refuseHopeless(_ options: WatchOptions) async throws(ClientError) {
        // On a connection that ends with the question, so that no event comes among the replies to others.
        let client = try Client(at: location, name: Gateway.name)
        _ = try await client.call(
            .subscribe(.init(
                patterns: options.paths, events: .structure, initial: false, since: nil, maxRate: options.maxRate, frameRate: nil,
                css: options.css, typed: false, bookmarks: false)))
    }

    // MARK: Answers

    private static func json(_ status: HTTPStatusCode, _ value: Value) -> HTTPResponse {
        HTTPResponse(
            statusCode: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: Data((value.jsonText + "\n").utf8))
    }

    private static func refusal(_ status: HTTPStatusCode, _ message: String) -> HTTPResponse {
        json(status, ["error": ["message": .string(message)]])
    }

    private static func refusal(_ error: ClientError) -> HTTPResponse {
        guard let failure = error.failure else { return refusal(.serviceUnavailable, "\(error)") }
        let status: HTTPStatusCode =
            switch failure.code {
            case .notFound, .removed: .notFound
            case .denied: .forbidden
            case .limit, .unavailable: .serviceUnavailable
            default: .badRequest
            }
        var entries: [(Value, Value)] = [("code", .string(failure.code.rawValue)), ("message", .string(failure.message))]
        if let hint = failure.hint { entries.append(("hint", .string(hint))) }
        return json(status, ["error": .map(ValueMap(entries))])
    }
}

/// How many watches are open.
final class WatchCount: Sendable {
    private let count = Mutex(0)

    /// One of the places; it is free again when the last reference to it goes.
    final class Place: Sendable {
        private let owner: WatchCount
        fileprivate init(_ owner: WatchCount) { self.owner = owner }
        deinit { owner.count.withLock { $0 -= 1 } }
    }

    func take() -> Place? {
        let isFree = count.withLock { count in
            guard count < Gateway.maximumWatches else { return false }
            count += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}
