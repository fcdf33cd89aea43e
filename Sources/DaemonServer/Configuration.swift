import Archive
import AttributeValues
import Glibc
import GraphRuntime
import Logging
import StateStore

/// The operator's settings. `Setting.table` names each value for the configuration file; the command line takes
/// precedence over the file.
public struct Configuration {
    /// nil: the path from `SocketPath.standard`.
    public var socket: String?
    public var socketMode: UInt32 = 0o660
    /// nil: the group that the daemon runs as.
    public var socketGroup: String?
    /// Empty: every client that can connect may do everything.
    public var access: [AccessRule] = []
    /// Loaded in this order before clients are served.
    public var scenes: [String] = []
    /// nil: nothing is stored.
    public var stateDirectory: String?
    public var durability = StateStore.Durability.full
    /// nil: `archive` in the state directory, if there is one.
    public var archiveDirectory: String?
    public var archive = Archive.Limits()
    public var logLevel = Logger.Level.info
    public var server = ServerLimits()
    public var runtime = RuntimeLimits()
    /// The longest path in a write, in bytes. The process has one such limit (`AttributePath.maximumLength`).
    public var pathLength = AttributePath.maximumLength

    /// The lines of the file, as FILE:LINE, that give each setting its values, in order. Settings from the command line
    /// are not included.
    var positions: [String: [String]] = [:]

    public init() {}

    /// Applies the command line, which takes precedence over the file; its scenes follow those of the file.
    public mutating func override(socket: String?, stateDirectory: String?, scenes: [String]) {
        if let socket {
            self.socket = socket
            positions["socket"] = nil
        }
        if let stateDirectory {
            self.stateDirectory = stateDirectory
            positions["state-directory"] = nil
        }
        self.scenes += scenes
    }

    /// The line of a setting's value, as FILE:LINE.
    func placeInFile(of setting: String, _ position: Int = 0) -> String? {
        guard let positions = positions[setting], position < positions.count else { return nil }
        return positions[position]
    }

    /// The folder of the archive; nil: there is none.
    public var archiveFolder: String? {
        archive.isOff ? nil : archiveDirectory ?? stateDirectory.map { $0 + "/archive" }
    }

    package var accessRules: AccessRules { AccessRules(access, owner: geteuid()) }
}
