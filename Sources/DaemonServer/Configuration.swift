import AttributeValues
import Glibc
import GraphRuntime
import Logging
import StateStore

/// What an operator decides. `Setting.table` names each value for the configuration file; the command line goes before
/// it.
public struct Configuration {
    /// nil: where `SocketPath.standard` says.
    public var socket: String?
    public var socketMode: UInt32 = 0o660
    /// nil: the group that the daemon runs as.
    public var socketGroup: String?
    /// Empty: whoever can connect may do everything.
    public var access: [AccessRule] = []
    /// Loaded in this order before anybody is served.
    public var scenes: [String] = []
    /// nil: nothing is kept.
    public var stateDirectory: String?
    public var durability = StateStore.Durability.full
    public var logLevel = Logger.Level.info
    public var server = ServerLimits()
    public var runtime = RuntimeLimits()
    /// Bytes that a written path may have; the process has one such limit (`AttributePath.maximumLength`).
    public var pathLength = AttributePath.maximumLength

    /// Where the file gives a setting, as FILE:LINE: by its name, in the order of its values. What the command line
    /// gives stands nowhere.
    var places: [String: [String]] = [:]

    public init() {}

    /// What the command line says goes before what the file says; its scenes come behind.
    public mutating func override(socket: String?, stateDirectory: String?, scenes: [String]) {
        if let socket {
            self.socket = socket
            places["socket"] = nil
        }
        if let stateDirectory {
            self.stateDirectory = stateDirectory
            places["state-directory"] = nil
        }
        self.scenes += scenes
    }

    /// Where a setting's value stands.
    func place(of setting: String, _ position: Int = 0) -> String? {
        guard let places = places[setting], position < places.count else { return nil }
        return places[position]
    }

    var accessRules: AccessRules { AccessRules(access, owner: geteuid()) }
}

/// What is wrong with a configuration, and where.
public struct ConfigurationFault: Error, Equatable, CustomStringConvertible {
    public var file: String
    /// From 1; nil when the file as a whole is meant.
    public var line: Int?
    public var message: String
    public var hint: String?

    public var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": \(message)" + (hint.map { " (\($0))" } ?? "")
    }
}

/// All that is wrong with a configuration.
public struct ConfigurationFaults: Error, Equatable, CustomStringConvertible {
    public var faults: [ConfigurationFault]
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
