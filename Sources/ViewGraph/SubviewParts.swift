import AttributeValues
import RuleLanguage

/// The parts of subviews and sections that a rule reads. The rule's list has only these parts, so it does not change
/// with others.
struct SubviewParts: Hashable {
    var hasID = false
    var hasTag = false
    var hasContainerValues = false
    /// Container-value keys; nil: all.
    var keys: [String]? = []
    /// The part of a container value that is read.
    var steps: [AttributePath.Step] = []
    var hasSectionID = false
    var hasSectionValues = false
    /// For sections: `header`, `content`, `footer`.
    var slots: Set<String> = []

    static let slots: [(name: String, slot: Slot)] = [("header", .header), ("content", .content), ("footer", .footer)]

    static var whole: SubviewParts {
        SubviewParts(
            hasID: true, hasTag: true, hasContainerValues: true, keys: nil, hasSectionID: true, hasSectionValues: true,
            slots: Set(slots.map(\.name)))
    }
}

extension SubviewParts {
    /// - Parameter used: the parts that a rule uses; nil: all.
    init(_ used: UsedParts?) {
        guard let used else {
            self = .whole
            return
        }
        hasID = used.uses("id", of: "subview")
        hasTag = used.uses("tag", of: "subview")
        hasContainerValues = used.uses("containerValues", of: "subview")
        keys = used.properties(of: "containerValues")
        hasSectionID = used.uses("id", of: "section")
        hasSectionValues = used.uses("containerValues", of: "section")
        slots = Set(SubviewParts.slots.map(\.name).filter { used.uses($0, of: "section") })
    }

    /// True if the container value at `steps` of a key contains what is read, or is in it.
    func mayShow(_ key: String, _ steps: [AttributePath.Step]) -> Bool {
        (keys?.contains(key) ?? true) && !steps.isApart(from: self.steps)
    }
}
