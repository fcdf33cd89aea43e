import AttributeValues
import BenchmarkSupport

extension DaemonProcess {
    convenience init(_ program: String, for attack: Attack) throws {
        var settings = ["socket-mode = 0666", "log-level = error"] + attack.settings
        // A line for somebody else: from then on nobody has a right by himself, except root and the daemon's own user.
        if !attack.hasRights { settings.append("access = read user:0 /nothing/**") }
        try self.init(program, scene: attack.scene(), settings: settings, hasStore: attack.keepsStore)
    }

    /// The numbers that the daemon tells of itself.
    func figures(within patience: Double) -> [String: Double]? {
        guard let client = try? DaemonClient(socketPath, patience: 0),
            let line = try? client.call("stats", within: patience),
            let reply = try? JSONParser.parseOnce(line[...]), let members = reply.map?["result"]?.map
        else { return nil }
        var figures: [String: Double] = [:]
        for (key, value) in members { if let name = key.string, let number = value.number { figures[name] = number } }
        return figures
    }
}
