/// The release to which all programs of the project belong.
public enum Release { public static let version = "0.1.0" }
