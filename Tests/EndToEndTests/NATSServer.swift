import AttributeValues
import Foundation
import TestSupport

/// A real NATS server with JetStream, on a free port of this machine.
final class NATSServer {
    static let path = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    let address: String
    let folder: Folder
    private let port: UInt16
    private let configuration: String?
    private let hasJetStream: Bool
    private(set) var program: Program

    /// - Parameters:
    ///   - configuration: the text of a file for the server.
    ///   - folder: for the server's files.
    ///   - jetStream: whether it has streams.
    init(_ configuration: String? = nil, folder: Folder? = nil, jetStream: Bool = true) throws {
        hasJetStream = jetStream
        self.folder = try folder ?? Folder()
        port = try TCP.freePort()
        address = "nats://127.0.0.1:\(port)"
        self.configuration = try configuration.map { [folder = self.folder] in
            try folder.write($0, to: "nats.conf")
        }
        program = try NATSServer.start(self.folder, port, self.configuration, jetStream)
    }

    /// Starts it again with the files that it had.
    /// - Parameter jetStream: nil as before.
    func restart(jetStream: Bool? = nil) throws {
        program = try NATSServer.start(folder, port, configuration, jetStream ?? hasJetStream)
    }

    private static func start(
        _ folder: Folder, _ port: UInt16, _ configuration: String?, _ hasJetStream: Bool
    ) throws -> Program {
        let file = configuration.map { ["-c", $0] } ?? []
        let streams = hasJetStream ? ["-js", "-sd", folder.file("js")] : []
        return try Program(
            path ?? "", file + streams + ["-a", "127.0.0.1", "-p", "\(port)"], folder: folder)
    }
}

/// All values and the structure of a site, in a form that does not name its root.
struct SiteImage: Equatable {
    private static let own = ["isLive", "lag", "term", "revision", "seen", "failures", "owner"].map { "." + $0 }
    private var values: [String: Value] = [:]
    private var nodes: [String] = []

    init(_ client: Client, _ root: String) throws {
        let result = try client.call("get", ["paths": [.string(root + "/**")], "typed": true])
        for (path, content) in result["values"]?.map ?? ValueMap() {
            let name = String((path.string ?? "").dropFirst(root.count))
            // A mirror has null in place of an error.
            if !SiteImage.own.contains(name) { values[name] = content["value"] ?? ["null": .null] }
        }
        var open = [(path: "", description: try client.call("describe", ["path": .string(root)]))]
        while let (path, description) = open.popLast() {
            nodes.append(path)
            for child in description["children"]?.list ?? [] {
                open.append((path + "/" + (child["id"]?.string ?? ""), child))
            }
        }
    }

    func differences(_ other: SiteImage) -> String {
        let paths = Set(values.keys).union(other.values.keys).filter { values[$0] != other.values[$0] }.sorted()
        let lines = paths.prefix(5).map { path in
            let texts = [values[path], other.values[path]].map {
                $0.map { String($0.jsonText.prefix(60)) } ?? "nothing"
            }
            return "\(path): \(texts[0]) ≠ \(texts[1])"
        }
        return (lines + (nodes == other.nodes ? [] : ["\(nodes) ≠ \(other.nodes)"])).joined(separator: "; ")
    }
}
