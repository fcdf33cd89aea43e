import Archive
import SceneModel
import StateStore
import WireProtocol

/// The formats that this release reads and writes, by number. A number increases with every change that an earlier agd
/// cannot read.
public enum Formats {
    public static var summary: String {
        "protocol \(ProtocolSchema.version), scenes \(SceneLimits.formatVersion), store \(StateStore.schemaVersion), "
            + "archive \(Archive.formatVersion)"
    }
}
