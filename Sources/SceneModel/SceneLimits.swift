/// Limits of documents. They bound the cost of a hostile or mistaken document.
public enum SceneLimits {
    /// The version of the format (`agd: 1`). Increases with every change that an earlier agd cannot read.
    public static let formatVersion: Int64 = 1
    /// Length of a text in UTF-8 bytes.
    public static let textSize = 64 << 20
    /// Levels of lists and maps inside each other. Checking recurses this deep.
    public static let nesting = 256
    /// Scalars, lists and maps of a document. Those of an alias count at each use.
    public static let entries = 8_000_000
    /// Nodes of a document. Components count at each use.
    public static let nodes = 1_000_000
    /// Levels of nodes, including those of components.
    public static let depth = 500
    /// Attributes of a node, together with its values for the environment, for containers and for preferences.
    public static let attributes = 10_000
    /// Files that a scene imports, with those that they import.
    public static let imports = 1000
    /// Targets of an action.
    public static let actionSteps = 1000
    /// Functions, keys, types and components of a document, and of a graph.
    public static let declarations = 10_000
    /// Depth of nodes while components that use each other through `forEach` are read. Such a component is read where
    /// it is first used, on the stack of the component that uses it; so this bounds the recursion.
    public static let repetitionDepth = 128
    /// Levels of objects inside each other, as their types declare them. Completing a value recurses this deep.
    public static let objectDepth = 64
    /// Initial properties of an object, including those of the objects in it.
    public static let objectProperties = 1000
    /// Reported faults. Further ones are only counted.
    public static let faults = 100
    /// Length of the name of an attribute, key, type or component in UTF-8 bytes.
    public static let nameLength = 255
    /// The shortest time between two ticks of a clock, in nanoseconds.
    public static let shortestTick: Int64 = 1_000_000
    /// Dates of one clock.
    public static let dates = 10_000
    /// Nanoseconds after which a state can expire at the latest: 3650 days.
    public static let longestExpiry: Int64 = 3650 * 86_400_000_000_000
    /// Entries that a map with `entries` may have.
    public static let mostEntries = 1_000_000
}
