extension Color {
    public init?(css: String) { return nil }
    public var css: String { "" }
}
