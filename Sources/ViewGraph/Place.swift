import AttributeGraph
import AttributeValues

/// An attribute and a path into its value. A name leads to a place once bindings and references are followed.
public struct Place: Hashable {
    public var attribute: AttributeID
    public var steps: [AttributePath.Step]

    public init(_ attribute: AttributeID, _ steps: [AttributePath.Step] = []) {
        self.attribute = attribute
        self.steps = steps
    }

    /// A place inside the value at this one.
    func inside(_ more: [AttributePath.Step]) -> Place {
        more.isEmpty ? self : Place(attribute, steps.isEmpty ? more : steps + more)
    }
}

/// The source of one input of a rule.
enum BoundInput: Equatable {
    case attribute(AttributeID)
    /// True if the vertex has a value; `of` is the vertex of the value around it.
    case presence(AttributeID, of: AttributeID)
    /// A place inside this one that the rule chooses while it runs.
    case dynamic(Place)
    case failure(Failure)
}

extension [AttributePath.Step] {
    /// True if no value is both at or in the place that these steps lead to, and at or in that of others. Steps of
    /// different kinds may lead to the same value.
    func isApart(from others: [AttributePath.Step]) -> Bool {
        zip(self, others).contains { step, other in
            switch (step, other) {
            case (.key(let a), .key(let b)): !a.hasSameBytes(as: b)
            case (.index(let a), .index(let b)): a != b
            default: false
            }
        }
    }
}
