import AttributeValues
import Glibc

extension Color {
    /// The components of a moving colour: Oklab, premultiplied with alpha, and alpha.
    public var oklabComponents: Components {
        let lab = oklab
        return Components([lab.lightness * alpha, lab.a * alpha, lab.b * alpha, alpha])
    }

    /// - Parameter components: as `oklabComponents`. Where alpha is 0 or overshoots below it, the colour is transparent
    ///   black.
    public init(oklab components: Components) {
        let alpha = components[3]
        guard alpha > 0 else {
            self.init(linearRed: 0, green: 0, blue: 0, alpha: 0)
            return
        }
        self.init(
            oklabLightness: components[0] / alpha, a: components[1] / alpha, b: components[2] / alpha,
            alpha: min(alpha, 1))
        // Rounding errors of differences of large numbers are not part of the colour.
        let noise = 1e-14 / min(alpha, 1) * max(red.magnitude, green.magnitude, blue.magnitude)
        if red.magnitude < noise { red = 0 }
        if green.magnitude < noise { green = 0 }
        if blue.magnitude < noise { blue = 0 }
    }

    public enum MixingSpace: String, CaseIterable, Sendable {
        case srgb = "srgb"
        case srgbLinear = "srgb-linear"
        case oklab = "oklab"
        /// Oklch along the shorter arc of hue. A powerless hue is taken from the other colour.
        case oklch = "oklch"
    }

    /// Interpolates premultiplied components as CSS Color 4 does. `t` outside 0...1 extrapolates.
    public func mixed(with other: Color, at t: Double, in space: MixingSpace = .oklab) -> Color {
        let alpha = self.alpha + (other.alpha - self.alpha) * t
        func blend(_ a: Double, _ b: Double) -> Double {
            guard alpha != 0 else { return 0 }
            return (a * self.alpha + (b * other.alpha - a * self.alpha) * t) / alpha
        }
        switch space {
        case .srgb:
            let (a, b) = (encoded, other.encoded)
            return Color(
                red: blend(a.red, b.red), green: blend(a.green, b.green), blue: blend(a.blue, b.blue), alpha: alpha)
        case .srgbLinear:
            return Color(
                linearRed: blend(red, other.red), green: blend(green, other.green), blue: blend(blue, other.blue),
                alpha: alpha)
        case .oklab:
            let (a, b) = (oklab, other.oklab)
            return Color(
                oklabLightness: blend(a.lightness, b.lightness), a: blend(a.a, b.a), b: blend(a.b, b.b), alpha: alpha)
        case .oklch:
            let (a, b) = (polar, other.polar)
            let (from, to) = shorterArc(from: a.hue ?? b.hue ?? 0, to: b.hue ?? a.hue ?? 0)
            let hue = (from + (to - from) * t) * .pi / 180
            let chroma = blend(a.chroma, b.chroma)
            return Color(
                oklabLightness: blend(a.lightness, b.lightness), a: chroma * cos(hue), b: chroma * sin(hue),
                alpha: alpha)
        }
    }

    /// Oklch: hue in degrees, 0 ..< 360; nil where there is too little chroma for one.
    private var polar: (lightness: Double, chroma: Double, hue: Double?) {
        let lab = oklab
        let chroma = hypot(lab.a, lab.b)
        guard chroma > 4e-6 else { return (lab.lightness, chroma, nil) }
        let hue = atan2(lab.b, lab.a) * 180 / .pi
        return (lab.lightness, chroma, hue < 0 ? hue + 360 : hue)
    }
}

/// The two angles in degrees, reduced to 0 ..< 360. Then 360 is added to one of them if that makes the way shorter (CSS
/// Color 4, "shorter"). Half a turn stays as it is.
public func shorterArc(from: Double, to: Double) -> (from: Double, to: Double) {
    func reduced(_ angle: Double) -> Double {
        let rest = angle.truncatingRemainder(dividingBy: 360)
        return rest < 0 ? rest + 360 : rest
    }
    var (from, to) = (reduced(from), reduced(to))
    if to - from > 180 { from += 360 } else if to - from < -180 { to += 360 }
    return (from, to)
}
