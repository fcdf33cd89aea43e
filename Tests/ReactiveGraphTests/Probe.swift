import AttributeGraph
import ReactiveGraph

/// Counts and records what closures do.
final class Probe {
    var runs = 0
    var seen: [Int] = []
    var events: [String] = []

    func saw(_ value: Int) {
        runs += 1
        seen.append(value)
    }

    func reset() {
        runs = 0
        seen.removeAll()
        events.removeAll()
    }
}

struct Boom: Error, Equatable {
    var number = 0
}

extension GraphAccess where Value == Int {
    /// A rule that counts its runs.
    func rule(_ probe: Probe, _ body: @escaping (GraphContext<Int>) throws -> Int) -> AttributeID {
        rule { context in
            probe.runs += 1
            return try body(context)
        }
    }

    /// An observer that records what an attribute is.
    @discardableResult
    func watch(_ attribute: AttributeID, _ probe: Probe) throws -> AttributeID {
        try observe { probe.saw(try $0[attribute]) }
    }
}
