import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Preferences flow up: each node passes on the value that it writes itself, or else the values from below, merged in
// order. The vertices exist only between a reader and the writers below it, and only once somebody reads.

extension Wiring {
    /// The value that a node passes up for a key: an optional, absent if neither it nor any node below writes one.
    func preferenceOutputContent(_ key: String, at row: UInt32) throws -> Content {
        if let own = nodes[Int(row)].preferences.last(where: { $0.key == key }) {
            switch try engine.read(own.source) {
            case .value(let value): return .value(.optional(value))
            case .failure(let failure): return .failure(failure)
            }
        }
        return try mergedPreference(key, below: row)
    }

    /// The value that an ancestor reads: the merged values of its descendants, or the default.
    func preferenceContent(_ key: String, at row: UInt32) throws -> Content {
        switch try mergedPreference(key, below: row) {
        case .value(.optional(let merged)):
            if let merged { return .value(merged) }
            guard let definition = declarations.preference[key] else {
                return .failure(Failure(.notFound, "undeclared preference key \(key)"))
            }
            return .value(definition.defaultValue)
        case let other: return other
        }
    }

    private func mergedPreference(_ key: String, below row: UInt32) throws -> Content {
        try readStructure(of: row)
        var merged: Value?
        for child in nodes.shown(in: row) {
            switch try engine.read(systemAttribute(.preferenceOutput(key), of: child)) {
            case .failure(let failure): return .failure(failure)
            case .value(.optional(let value?)):
                guard let before = merged else {
                    merged = value
                    continue
                }
                guard let reduce = declarations.preference[key]?.reduce else {
                    // Without a reduce the last writer wins, as an assignment would.
                    merged = value
                    continue
                }
                switch evaluate(reduce, bindings: ValueMap([(.string("value"), before), (.string("next"), value)])) {
                case .failure(let failure): return .failure(failure)
                case .value(let reduced): merged = reduced
                }
            case .value: continue
            }
        }
        return .value(.optional(merged))
    }
}
