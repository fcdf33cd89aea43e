public struct Color: Hashable { public var red=0.0; public init?(css: String) { return nil }; public var css: String { "" } }
