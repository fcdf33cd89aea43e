import Glibc

/// Conversions of CSS Color 4. The matrices are products and exact inverses of those in the specification, computed in
/// rational arithmetic and rounded once.
extension Color {
    /// The sRGB transfer function, continued to negative values by symmetry.
    public static func encode(_ linear: Double) -> Double {
        let magnitude = linear.magnitude
        let encoded = magnitude <= 0.0031308 ? 12.92 * magnitude : 1.055 * pow(magnitude, 1 / 2.4) - 0.055
        return linear < 0 ? -encoded : encoded
    }

    /// The inverse of `encode`.
    public static func decode(_ encoded: Double) -> Double {
        let magnitude = encoded.magnitude
        let linear = magnitude <= 0.04045 ? magnitude / 12.92 : pow((magnitude + 0.055) / 1.055, 2.4)
        return encoded < 0 ? -linear : linear
    }

    /// - Parameters: gamma-encoded sRGB components.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.init(linearRed: Color.decode(red), green: Color.decode(green), blue: Color.decode(blue), alpha: alpha)
    }

    /// Gamma-encoded sRGB, not clamped.
    public var encoded: (red: Double, green: Double, blue: Double) {
        (Color.encode(red), Color.encode(green), Color.encode(blue))
    }

    /// - Parameters: Oklab lightness and axes, not premultiplied.
    public init(oklabLightness lightness: Double, a: Double, b: Double, alpha: Double = 1) {
        let l = lightness + 0.396337777376175 * a + 0.2158037573099136 * b
        let m = lightness - 0.10556134581565856 * a - 0.06385417282581334 * b
        let s = lightness - 0.08948417752981182 * a - 1.2914855480194094 * b
        let (l3, m3, s3) = (l * l * l, m * m * m, s * s * s)
        self.init(
            linearRed: 4.076741636075958 * l3 - 3.3077115392580625 * m3 + 0.23096990318210447 * s3,
            green: -1.268437973285032 * l3 + 2.609757349287689 * m3 - 0.3413193760026573 * s3,
            blue: -0.00419607613867548 * l3 - 0.7034186179359363 * m3 + 1.7076146940746117 * s3, alpha: alpha)
    }

    /// Oklab lightness and axes, not premultiplied.
    public var oklab: (lightness: Double, a: Double, b: Double) {
        let l = cbrt(0.412221469470763 * red + 0.5363325372617348 * green + 0.0514459932675022 * blue)
        let m = cbrt(0.21190349581782522 * red + 0.6806995506452344 * green + 0.10739695353694055 * blue)
        let s = cbrt(0.08830245919005643 * red + 0.2817188391361215 * green + 0.6299787016738221 * blue)
        return (
            0.210454268309314 * l + 0.7936177747023054 * m - 0.0040720430116193 * s,
            1.9779985324311684 * l - 2.42859224204858 * m + 0.450593709617411 * s,
            0.0259040424655478 * l + 0.7827717124575296 * m - 0.8086757549230774 * s
        )
    }

    /// - Parameters: CIE XYZ with the white point D65.
    init(x: Double, y: Double, z: Double, alpha: Double) {
        self.init(
            linearRed: 3.2409699419045213 * x - 1.5373831775700935 * y - 0.4986107602930033 * z,
            green: -0.9692436362808798 * x + 1.8759675015077206 * y + 0.04155505740717561 * z,
            blue: 0.05563007969699361 * x - 0.20397695888897657 * y + 1.0569715142428786 * z, alpha: alpha)
    }
}

// Spaces that colours are read from but never written in.
extension Color {
    /// - Parameters: hue in degrees, the others 0...1.
    init(hue: Double, saturation: Double, lightness: Double, alpha: Double) {
        func channel(_ n: Double) -> Double {
            let k = Color.reduced(n + hue / 30, modulo: 12)
            return lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(k - 3, 9 - k, 1))
        }
        self.init(red: channel(0), green: channel(8), blue: channel(4), alpha: alpha)
    }

    /// - Parameters: hue in degrees, the others 0...1; a sum above 1 is grey.
    init(hue: Double, whiteness: Double, blackness: Double, alpha: Double) {
        let sum = whiteness + blackness
        if sum >= 1 {
            let gray = whiteness / sum
            self.init(red: gray, green: gray, blue: gray, alpha: alpha)
            return
        }
        let pure = Color(hue: hue, saturation: 1, lightness: 0.5, alpha: alpha).encoded
        func channel(_ value: Double) -> Double { value * (1 - sum) + whiteness }
        self.init(red: channel(pure.red), green: channel(pure.green), blue: channel(pure.blue), alpha: alpha)
    }

    /// - Parameters: CIE Lab with the white point D50.
    init(labLightness lightness: Double, a: Double, b: Double, alpha: Double) {
        let fy = (lightness + 16) / 116
        func cube(_ f: Double) -> Double {
            let cubed = f * f * f
            return cubed > 216.0 / 24_389 ? cubed : (116 * f - 16) * 27 / 24_389
        }
        let (x, y, z) = (
            cube(fy + a / 500) * 0.3457 / 0.3585, cube(fy), cube(fy - b / 200) * (1 - 0.3457 - 0.3585) / 0.3585
        )
        // Bradford adaptation from D50 to D65.
        self.init(
            x: 0.955473421488075 * x - 0.02309845494876471 * y + 0.06325924320057072 * z,
            y: -0.0283697093338637 * x + 1.0099953980813041 * y + 0.021041441191917323 * z,
            z: 0.012314014864481998 * x - 0.020507649298898964 * y + 1.330365926242124 * z, alpha: alpha)
    }

    /// - Parameters: gamma-encoded.
    init(displayP3Red red: Double, green: Double, blue: Double, alpha: Double) {
        let (r, g, b) = (Color.decode(red), Color.decode(green), Color.decode(blue))
        self.init(
            x: 0.4865709486482162 * r + 0.26566769316909306 * g + 0.1982172852343625 * b,
            y: 0.2289745640697488 * r + 0.6917385218365064 * g + 0.079286914093745 * b,
            z: 0.04511338185890264 * g + 1.043944368900976 * b, alpha: alpha)
    }

    /// The axes of a polar colour; hue in degrees.
    static func rectangular(chroma: Double, hue: Double) -> (a: Double, b: Double) {
        let angle = hue * .pi / 180
        return (chroma * cos(angle), chroma * sin(angle))
    }

    private static func reduced(_ value: Double, modulo period: Double) -> Double {
        let rest = value.truncatingRemainder(dividingBy: period)
        return rest < 0 ? rest + period : rest
    }
}
