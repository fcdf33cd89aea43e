extension Animation {
    /// The names of all curves, as they are written.
    public static var curveNames: [String] {
        Signature.curves.map(\.name).reduce(into: []) { names, name in
            if names.last != name { names.append(name) }
        }
    }
}
