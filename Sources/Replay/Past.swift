import Archive
import AttributeValues
import DaemonServer
import GraphRuntime

/// What all connections need: the archive, and the settings of the daemon.
package struct Past: Equatable {
    package let folder: String
    package let access: AccessRules
    package let limits: RuntimeLimits
    package var outputMaximum: Int
    package let messageSize: Int

    /// The steps that a request may take.
    private static let requestCost = 1_000_000_000

    package init(folder: String, access: AccessRules, limits: RuntimeLimits) {
        self.init(folder: folder, access, limits, Configuration().server)
    }

    package init(folder: String, _ configuration: Configuration) {
        self.init(folder: folder, configuration.accessRules, configuration.runtime, configuration.server)
    }

    private init(folder: String, _ access: AccessRules, _ limits: RuntimeLimits, _ server: ServerLimits) {
        (self.folder, self.access) = (folder, access)
        // Nothing is deferred: nobody else waits.
        var limits = limits
        limits.requestCost = Past.requestCost
        self.limits = limits
        outputMaximum = server.outputMaximum
        messageSize = server.messageSize
    }
}
