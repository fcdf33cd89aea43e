import CommandArguments
import WireProtocol

extension Request.ApplyMode: FlagChoice {
    package var help: String {
        switch self {
        case .create: "Refuse nodes that exist already."
        case .merge: "Update nodes that exist; their states keep their values."
        case .replace:
            """
            Make existing nodes equal to the scene, and remove nodes that it leaves out, also their siblings at --at. \
            The remaining states keep their values.
            """
        }
    }
}
