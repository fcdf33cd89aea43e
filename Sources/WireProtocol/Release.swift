/// What all programs of the project are a part of.
public enum Release {
    public static let version = "0.1.0"
}
