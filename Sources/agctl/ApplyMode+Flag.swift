import CommandArguments
import WireProtocol

extension Request.ApplyMode: FlagChoice {
    package var help: String {
        switch self {
        case .create: "Refuse nodes that exist already."
        case .merge: "Update nodes that exist; their states keep their values."
        case .replace:
            """
            Also remove what was applied before and the scene leaves out, at --at, too. What the daemon's scenes say \
            stays. The remaining states keep their values.
            """
        }
    }
}
