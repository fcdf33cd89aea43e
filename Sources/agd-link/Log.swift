import AGClient
import CommandArguments

typealias Log = CommandArguments.Log

extension ClientError {
    /// With the hint, which names the setting that is the limit.
    var told: String {
        if case .timedOut = self {
            return "\(self): it is stopped, or too slow for a site of this size; the setting live-time of agd-link is "
                + "the limit"
        }
        return hint.map { "\(self) (\($0))" } ?? "\(self)"
    }
}
