import SceneModel
import ViewGraph
import WireProtocol

/// A change of structure that a client has asked for.
final class StructureJob {
    let client: Client
    let request: Request
    /// Whose turn it takes.
    let owner: AccessRule.Subject
    /// The number of the owner's jobs before it.
    var round = 0
    var stage = Stage.waiting
    /// Number of slices that it has taken.
    var slices = 0
    /// The access rules have changed since the job began. It starts again, so that the new rules apply to all of it.
    var hasOldAccess = false
    /// The answer, once the job is done.
    var result: Answer?

    enum Stage {
        case waiting
        /// A document is being read and checked.
        case reading(SceneReading)
        case checked(SceneDefinition)
        /// It is being compared with the existing nodes.
        case planning(Planning, SceneDefinition)
        /// Its new nodes are being made.
        case building(Construction, SceneDefinition)
        case built(Construction, SceneDefinition)
    }

    init(_ client: Client, _ request: Request) {
        self.client = client
        self.request = request
        owner = client.subject
    }
}
