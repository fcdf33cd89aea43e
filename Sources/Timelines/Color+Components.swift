import AttributeValues

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
}
