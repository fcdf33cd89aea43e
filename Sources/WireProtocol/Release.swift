import CRelease

/// The release to which all programs of the project belong.
public enum Release {
    public static let version = "0.1.0"

    /// The commit from which the programs were built; nil if `Scripts/release` has not built them.
    public static var commit: String? { agd_commit().map { String(cString: $0) } }

    /// The version, with the commit if it is known.
    public static var name: String { commit.map { "\(version) (\($0))" } ?? version }
}
