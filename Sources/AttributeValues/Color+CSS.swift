/// Colours as CSS text, read by the grammar of CSS Color 4.
extension Color {
    /// Reads a CSS colour: a name, `transparent`, `#rgb[a]`, `#rrggbb[aa]`, `rgb()`, `hsl()`, `hwb()`, `lab()`,
    /// `lch()`, `oklab()`, `oklch()`, or `color()` in srgb, srgb-linear, display-p3 or xyz. `none` counts as 0. nil for
    /// all other texts, including `currentcolor` and relative colours, which are not colours by themselves.
    public init?(css: String) {
        guard css.utf8.count <= Color.maximumLength else { return nil }
        let text = css.trimmed.lowercased()
        if text == "transparent" {
            self.init(linearRed: 0, green: 0, blue: 0, alpha: 0)
        } else if text.hasPrefix("#") {
            self.init(hex: Array(text.utf8.dropFirst()))
        } else if text.hasSuffix(")"), let open = text.firstIndex(of: "(") {
            guard let arguments = CSSArguments(text[text.index(after: open)...].dropLast()) else { return nil }
            self.init(function: String(text[..<open]), arguments)
        } else {
            guard let named = Color.names.first(where: { text.hasSameBytes(as: $0.name.description) }) else {
                return nil
            }
            self.init(rgb: named.rgb)
        }
    }

    /// Longer texts are not accepted.
    static let maximumLength = 256

    private init(rgb: UInt32, alpha: Double = 1) {
        self.init(
            red: Double(rgb >> 16 & 255) / 255, green: Double(rgb >> 8 & 255) / 255, blue: Double(rgb & 255) / 255,
            alpha: alpha)
    }

    private init?(hex digits: [UInt8]) {
        var nibbles: [UInt32] = []
        for digit in digits {
            switch digit {
            case 0x30...0x39: nibbles.append(UInt32(digit) - 0x30)
            case 0x61...0x66: nibbles.append(UInt32(digit) - 0x61 + 10)
            default: return nil
            }
        }
        if nibbles.count == 3 || nibbles.count == 4 { nibbles = nibbles.flatMap { [$0, $0] } }
        guard nibbles.count == 6 || nibbles.count == 8 else { return nil }
        let bytes = stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
        self.init(rgb: bytes[0] << 16 | bytes[1] << 8 | bytes[2], alpha: bytes.count == 4 ? Double(bytes[3]) / 255 : 1)
    }

    private init?(function: String, _ arguments: CSSArguments) {
        // The value of 100 % for each argument; a hue has no percentages.
        let percents: [Double?] =
            switch function {
            case "rgb", "rgba": [255, 255, 255]
            case "hsl", "hsla", "hwb": [nil, 100, 100]
            case "oklab": [1, 0.4, 0.4]
            case "oklch": [1, 0.4, nil]
            case "lab": [100, 125, 125]
            case "lch": [100, 150, nil]
            case "color": [1, 1, 1]
            default: []
            }
        let read = zip(arguments.terms, percents).compactMap { term, percent in
            if let percent { term.resolve(percent: percent) } else { term.hue }
        }
        guard read.count == 3, let alpha = arguments.alphaValue else { return nil }
        let (x, y, z) = (read[0], read[1], read[2])
        switch function {
        case "rgb", "rgba":
            self.init(
                red: clamp(x, 0, 255) / 255, green: clamp(y, 0, 255) / 255, blue: clamp(z, 0, 255) / 255, alpha: alpha)
        case "hwb": self.init(hue: x, whiteness: y / 100, blackness: z / 100, alpha: alpha)
        case "oklab": self.init(oklabLightness: clamp(x, 0, 1), a: y, b: z, alpha: alpha)
        case "oklch":
            let (a, b) = Color.rectangular(chroma: max(0, y), hue: z)
            self.init(oklabLightness: clamp(x, 0, 1), a: a, b: b, alpha: alpha)
        case "lab": self.init(labLightness: clamp(x, 0, 100), a: y, b: z, alpha: alpha)
        case "lch":
            let (a, b) = Color.rectangular(chroma: max(0, y), hue: z)
            self.init(labLightness: clamp(x, 0, 100), a: a, b: b, alpha: alpha)
        case "color":
            switch arguments.space {
            case "srgb": self.init(red: x, green: y, blue: z, alpha: alpha)
            case "srgb-linear": self.init(linearRed: x, green: y, blue: z, alpha: alpha)
            case "display-p3": self.init(displayP3Red: x, green: y, blue: z, alpha: alpha)
            case "xyz", "xyz-d65": self.init(x: x, y: y, z: z, alpha: alpha)
            default: return nil
            }
        default: self.init(hue: x, saturation: max(0, y) / 100, lightness: z / 100, alpha: alpha)
        }
        guard [red, green, blue].allSatisfy(\.isFinite) else { return nil }
    }

    /// CSS text. Reading it gives an equal colour: `#rrggbb` or `#rrggbbaa` where that is exact, else
    /// `color(srgb-linear …)` with all digits.
    public var css: String {
        let (r, g, b) = encoded
        let bytes = [r, g, b, alpha].map { ($0 * 255).rounded() }
        if bytes.allSatisfy({ $0 >= 0 && $0 <= 255 }) {
            var hex = "#" + bytes.prefix(3).map { Color.hexByte(UInt8($0)) }.joined()
            if bytes[3] != 255 { hex += Color.hexByte(UInt8(bytes[3])) }
            if Color(css: hex) == self { return hex }
        }
        let linear = [red, green, blue].map(Color.short).joined(separator: " ")
        return "color(srgb-linear \(linear)\(alpha == 1 ? "" : " / \(Color.short(alpha))"))"
    }

    private static func hexByte(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    private static func short(_ number: Double) -> String {
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

private func clamp(_ value: Double, _ low: Double, _ high: Double) -> Double { min(max(value, low), high) }
