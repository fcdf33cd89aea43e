import AttributeGraph
import AttributeValues

/// A path from the root that something refers to, or a pattern of which a rule reads all that it matches.
final class RootReference {
    let text: String
    let path: AttributePath?
    let pattern: PathPattern?
    /// The attribute whose rule reads the pattern, if the pattern may match it.
    let omitted: AttributeID?
    /// Counts how often the target has changed.
    let version: AttributeID
    var target: AttributeID?

    init(_ text: String, _ version: AttributeID, _ pattern: PathPattern? = nil, omitting omitted: AttributeID? = nil) {
        self.text = text
        self.pattern = pattern
        self.omitted = omitted
        path = pattern == nil ? try? AttributePath(text) : nil
        self.version = version
    }
}

/// The paths from the root that something refers to.
struct RootReferences {
    var byText: [Name: (reference: RootReference, vertex: AttributeID)] = [:]
    /// References to patterns.
    var patterns: [PatternKey: (reference: RootReference, vertex: AttributeID)] = [:]

    /// The part of the present change of the tree that has been looked at.
    var followed = StructureChange.Extent()

    struct PatternKey: Hashable {
        let pattern: PathPattern
        let omitted: AttributeID?
    }

    var isEmpty: Bool { byText.isEmpty && patterns.isEmpty }
}
