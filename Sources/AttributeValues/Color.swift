/// A colour in linear-light sRGB, not clamped: components outside 0...1 are colours outside the sRGB gamut.
public struct Color: Hashable {
    public var red: Double
    public var green: Double
    public var blue: Double
    /// 0 transparent ... 1 opaque.
    public var alpha: Double

    public init(linearRed red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }
}
