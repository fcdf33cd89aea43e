import AttributeValues

extension FunctionList {
    mutating func defineCore() {
        // Lists and maps store the number of their elements.
        define(
            "size(string|bytes|list(A)|map(A,B)|vector) -> int", "string|bytes|list(A)|map(A,B)::size() -> int",
            work: Work(elementsPerStep: 0)
        ) { (a, _) throws(Fault) in CoreLibrary.countParts(of: a[0]).map { .int(Int64($0)) } }
        define("type(A) -> type(A)", work: .constant(1)) { (value: Value) in .type(value.typeName) }
        define("dyn(A) -> dyn", work: .constant(1)) { (value: Value) in value }
        define("A::hasTag(dyn) -> bool", work: Work(base: 5, elementsPerStep: 0), code: CoreLibrary.hasTag)
        define("A::tag() -> dyn", "A::tag(type(B)) -> dyn", work: .constant(5), code: CoreLibrary.findTag)
    }
}

enum CoreLibrary {
    fileprivate static func countParts(of value: Value) -> Int? {
        switch value {
        case .string(let text): text.scalarCount
        case .bytes(let bytes): bytes.count
        case .list(let elements): elements.count
        case .map(let map): map.count
        case .opaque(let opaque): (opaque as? VectorValue)?.components.count
        default: nil
        }
    }

    /// The tags of a subview, a map `{id, index, tag, containerValues}`. A list is several tags.
    private static func tags(of subview: Value) -> ValueList? {
        subview.map.map { map in map["tag"].map { $0.list ?? [$0] } ?? [] }
    }

    /// Tags must agree in type and value.
    fileprivate static func hasTag(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let tags = tags(of: a[0]) else { return nil }
        for tag in tags {
            try meter.chargeAll(of: a[1])
            if tag == a[1] { return .bool(true) }
        }
        return .bool(false)
    }

    fileprivate static func findTag(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let tags = tags(of: a[0]) else { return nil }
        if a.count == 1 { return tags.first ?? .null }
        guard case .type(let name) = a[1] else { return nil }
        try meter.charge(tags.count)
        return tags.first { $0.typeName == name } ?? .null
    }
}
