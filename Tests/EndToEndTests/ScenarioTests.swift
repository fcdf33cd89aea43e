import AGClient
import AttributeValues
import Foundation
import TestSupport
import Testing
import WireProtocol

/// The steps that all clients take (`clients/scenario`), with the client in Swift.
@Suite("the scenario of all clients", .timeLimit(.minutes(5)))
struct ScenarioTests {
    @Test("every step leads where it should") func steps() async throws {
        var run = try ScenarioRun()
        for step in try JSON.read(file: "clients/scenario/steps.json").list ?? [] { try await run.take(step) }
    }
}

private enum JSON {
    static func read(file: String) throws -> Value {
        try read(try String(contentsOfFile: Project.file(file), encoding: .utf8))
    }

    static func read(_ text: String) throws -> Value {
        try withExtendedLifetime(JSONParser(maximumDepth: 64)) { parser in
            try Array(text.utf8).withUnsafeBufferPointer { try parser.parse($0).value }
        }
    }
}

/// The program in front of the daemon that breaks connections.
private final class Breaker {
    let socket: String
    private let program: Program
    private let channel: Client

    init(_ daemon: Daemon) throws {
        socket = daemon.folder.file("breaker.sock")
        let (ours, theirs) = try Descriptor.pair()
        program = try Program(
            "/usr/bin/python3", [Project.file("clients/scenario/breaker.py"), socket, daemon.socket],
            folder: daemon.folder, input: theirs, standardOutput: theirs)
        channel = Client(socket: ours)
        #expect(try channel.line() == "ready")
    }

    func arm(_ when: String) throws {
        try channel.send(when)
        #expect(try channel.line() == when)
    }
}

/// The result of a call, as text that tasks can pass on.
private enum Outcome: Sendable {
    case result(json: String)
    case failure(code: String, message: String)
}

private struct ScenarioRun {
    private static let patience = 30.0

    private let folder: Folder
    private var daemon: Daemon
    private let breaker: Breaker
    private var clients: [String: AGClient.Client] = [:]

    init() throws {
        folder = try Folder()
        daemon = try Self.start(in: folder)
        breaker = try Breaker(daemon)
    }

    private static func start(in folder: Folder) throws -> Daemon {
        try Daemon(
            sceneFiles: ["clients/scenario/scene.yaml"],
            configuration: "state-directory = \(folder.file("state"))\n", folder: folder)
    }

    private mutating func client(for step: Value) throws -> AGClient.Client {
        let location = SocketLocation(path: step["breaks"] == nil ? daemon.socket : breaker.socket)
        if let retry = step["retry"] { return try AGClient.Client(at: location, retry: retry.number) }
        let name = step["by"]?.string ?? (step["breaks"] == nil ? "main" : "breaker")
        if let client = clients[name] { return client }
        let client = try AGClient.Client(at: location, retry: Self.patience)
        clients[name] = client
        return client
    }

    private func kill() throws {
        daemon.program.signal(SIGKILL)
        try daemon.program.wait()
    }

    mutating func take(_ step: Value) async throws {
        let name = step["does"]?.string ?? ""
        if step["call"]?.string == "close" {
            clients[step["by"]?.string ?? ""] = nil
            return
        }
        if let breaks = step["breaks"]?.string {
            try breaker.arm(breaks)
        }
        let event = step["daemon"]?.string
        if event == "kill" { try kill() }
        let client = try client(for: step)
        let text = step.jsonText
        let call = Task { try await Self.perform(text, client) }
        if event == "restart" { try kill() }
        if event == "start" || event == "restart" { daemon = try Self.start(in: folder) }
        let main = try #require(try self.client(for: [:]) as AGClient.Client?)
        if let meanwhile = step["meanwhile"] { _ = try await Self.perform(meanwhile.jsonText, main) }
        try Self.judge(try await call.value, step, name)
        for (path, value) in step["then"]?.map ?? ValueMap() {
            let found = try await main.get(path.string ?? "")
            #expect(Self.isEqual(found, value), "\(name): \(path) is \(found)")
        }
    }

    private static func judge(_ outcome: Outcome, _ step: Value, _ name: String) throws {
        switch outcome {
        case .failure(let code, let message):
            #expect(step["fails"]?.string == code, "\(name): \(code) \(message)")
            for part in step["says"]?.list ?? ValueList() {
                #expect(message.contains(part.string ?? "?"), "\(name): \(message)")
            }
        case .result(let text):
            #expect(step["fails"] == nil, "\(name): \(text)")
            let result = try JSON.read(text)
            if let wanted = step["returns"] { #expect(isEqual(result, wanted), "\(name): \(text)") }
            for (field, value) in step["includes"]?.map ?? ValueMap() {
                #expect(result[field.string ?? ""].map { isEqual($0, value) } == true, "\(name): \(text)")
            }
        }
    }

    /// Numbers are compared as such.
    private static func isEqual(_ a: Value, _ b: Value) -> Bool {
        if let a = a.number, let b = b.number { return a == b }
        if let a = a.list, let b = b.list { return a.count == b.count && zip(a, b).allSatisfy { isEqual($0, $1) } }
        return a == b
    }

    // MARK: Calls

    private static func perform(_ text: String, _ client: AGClient.Client) async throws -> Outcome {
        do throws(ClientError) {
            let step: Value
            do { step = try JSON.read(text) } catch { throw .malformed("\(error)") }
            return .result(json: try await call(step, client).jsonText)
        } catch { return .failure(code: code(of: error), message: "\(error)") }
    }

    private static func code(of error: ClientError) -> String {
        switch error {
        case .gaveUp(_, _, _, let last, let unknown): code(of: unknown ?? last)
        case .lost: "lost"
        case .unreachable: "unreachable"
        case .waited, .timedOut: "timedOut"
        default: error.failure?.code.rawValue ?? "\(error)"
        }
    }

    private static func mutations(_ list: Value?) -> [Mutation] {
        (list?.list ?? ValueList()).map { each in
            Mutation(
                operation: each["op"]?.string.flatMap { .init(rawValue: $0) } ?? .test,
                path: each["path"]?.string ?? "",
                value: each["value"], index: each["index"]?.number.map { Int($0) })
        }
    }

    private static func call(_ step: Value, _ client: AGClient.Client) async throws(ClientError) -> Value {
        let arguments = Array(step["arguments"]?.list ?? ValueList())
        let path = arguments.first?.string ?? ""
        let given = step["options"]
        let options = TransactionOptions(
            animation: given?["animation"], label: given?["label"]?.string, once: given?["once"]?.string)
        func members(_ value: Value?) -> [String: any ValueRepresentable] {
            Dictionary((value?.map ?? ValueMap()).map { ($0.0.string ?? "", $0.1) }) { $1 }
        }
        switch step["call"]?.string {
        case "get": return try await client.get(path)
        case "getAll":
            let contents = try await client.get(arguments[0].list?.compactMap(\.string) ?? []).contents
            return .map(
                ValueMap(
                    contents.map { path, content in
                        switch content {
                        case .value(let value): (.string(path), value)
                        case .failure(let failure): (.string(path), ["fails": .string(failure.code.rawValue)])
                        }
                    }))
        case "set": return .int(Int64(try await client.set(path, to: arguments[1], options: options)))
        case "toggle": return .int(Int64(try await client.toggle(path, options: options)))
        case "add": return .int(Int64(try await client.add(path, arguments[1], options: options)))
        case "do": return .int(Int64(try await client.do(path, members(arguments[1]), options: options)))
        case "transact": return .int(Int64(try await client.transact(mutations(arguments[0]), options: options)))
        case "onDisconnect":
            return try await client.onDisconnect(mutations(arguments[0]), options: options).map { .int(Int64($0)) }
                ?? .null
        case "history":
            let past = try await client.history(path)
            return ["span": .double(past.span.seconds), "step": .double(past.step.seconds)]
        case "eval": return try await client.eval(path, bindings: members(step["bindings"]))
        case "apply":
            let request = Request.Apply(
                document: arguments[0], at: "/", mode: .create, dryRun: false, options: options)
            return .list(ValueList(try await client.apply(request).added.map { .string($0) }))
        case "move":
            return .int(Int64(try await client.move(path, index: given?["index"]?.number.map { Int($0) })))
        case "remove": return .int(Int64(try await client.remove(path)))
        case "waitFor":
            let wanted = step["until"] ?? .null
            return try await client.waitFor(path, as: Value.self, timeout: step["seconds"]?.number ?? patience) {
                isEqual($0, wanted)
            }
        default: throw .malformed("the step \(step)")
        }
    }
}
