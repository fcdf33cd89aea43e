/// Bounds on what a document may be. They keep a hostile or mistaken document from costing more than it should.
public enum SceneLimits {
    /// UTF-8 bytes of a text.
    public static let textSize = 64 << 20
    /// Lists and maps inside each other; checking recurses this deep.
    public static let nesting = 256
    /// Scalars, lists and maps of a document, those behind an alias counted wherever they are used.
    public static let entries = 8_000_000
    /// Nodes that a document makes, components counted at each use.
    public static let nodes = 1_000_000
    /// Nodes above each other, those of components included.
    public static let depth = 500
    /// Nodes around the use of a component that is part of a circle through `forEach` and not read yet, those of the
    /// circle's other components included: its body is then read inside the reading of theirs.
    public static let repetitionDepth = 128
    /// Objects inside each other, by what their types begin with; completing a value recurses this deep.
    public static let objectDepth = 64
    /// Properties that an object begins with, those of the objects in it counted.
    public static let objectProperties = 1000
    /// Faults that are told; further ones are counted.
    public static let faults = 100
    /// UTF-8 bytes of a node's id.
    public static let idLength = 255
    /// UTF-8 bytes of an attribute's, key's, type's or component's name.
    public static let nameLength = 255
    /// The shortest time between two ticks of a clock, in nanoseconds.
    public static let shortestTick: Int64 = 1_000_000
    /// Dates of one clock.
    public static let dates = 10_000
}
