/// The properties that a rule uses of values of assembled types; see `RuleScope.declareObject`.
///
/// Found by type, not by value: a property that is used of one value counts as used of all values of its type.
public struct UsedParts: Hashable {
    /// By type.
    private var properties: [String: Set<String>] = [:]

    /// True if the rule may use a property of values of a type.
    public func uses(_ property: String, of type: String) -> Bool { properties[type]?.contains(property) ?? false }

    /// The properties of a type that are used, sorted.
    public func properties(of type: String) -> [String] { (properties[type] ?? []).sorted() }

    mutating func add(_ property: String, of type: String) { properties[type, default: []].insert(property) }
}
