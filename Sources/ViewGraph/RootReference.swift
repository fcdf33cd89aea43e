import AttributeGraph
import AttributeValues

/// A path from the root that something refers to.
final class RootReference {
    let text: String
    let path: AttributePath?
    /// Counts how often the target has changed.
    let version: AttributeID
    var target: AttributeID?

    init(_ text: String, _ version: AttributeID) {
        self.text = text
        path = try? AttributePath(text)
        self.version = version
    }
}

/// The paths from the root that something refers to.
struct RootReferences {
    var byText: [Name: (reference: RootReference, vertex: AttributeID)] = [:]

    var isEmpty: Bool { byText.isEmpty }
}
