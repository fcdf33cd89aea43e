import AttributeValues

extension FunctionList {
    mutating func defineLists() {
        define("list(A)::slice(int,int) -> list(A)", work: Work(elementsPerStep: 0), code: ListLibrary.slice)
        define(
            "list(list(A))::flatten() -> list(A)", "list(dyn)::flatten(int) -> list(dyn)", work: Work(base: 5),
            code: ListLibrary.flatten)
        define("list(A)::distinct() -> list(A)", work: Work(base: 5), code: ListLibrary.distinct)
        define("list(A)::sort() -> list(A)", work: Work(base: 5)) { (a, meter) throws(Fault) in
            guard let list = a.elements(0) else { return nil }
            return .list(try Sorting.sortElements(list.array, by: list.array, &meter))
        }
        define("lists.range(int) -> list(int)", code: ListLibrary.makeRange)
        define("sets.contains(list(A),list(A)) -> bool", work: Work(base: 5)) { (a, meter) throws(Fault) in
            guard let x = a.elements(0), let y = a.elements(1) else { return nil }
            return .bool(try SetLibrary.contains(x, y, &meter))
        }
        define("sets.equivalent(list(A),list(A)) -> bool", work: Work(base: 5)) { (a, meter) throws(Fault) in
            guard let x = a.elements(0), let y = a.elements(1) else { return nil }
            guard try SetLibrary.contains(x, y, &meter) else { return .bool(false) }
            return .bool(try SetLibrary.contains(y, x, &meter))
        }
        define("sets.intersects(list(A),list(A)) -> bool", work: Work(base: 5)) { (a, meter) throws(Fault) in
            guard let x = a.elements(0), let y = a.elements(1) else { return nil }
            for element in y where try SetLibrary.contains(x, [element], &meter) { return .bool(true) }
            return .bool(false)
        }
    }
}

enum ListLibrary {
    fileprivate static func slice(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let list = a.elements(0), let start = a.int(1), let end = a.int(2) else { return nil }
        guard start >= 0, start <= end, end <= list.count else {
            throw Fault("cannot slice(\(start), \(end)) a list of \(list.count) elements")
        }
        try meter.chargeElements(Int(end - start))
        return .list(Array(list[Int(start)..<Int(end)]))
    }

    fileprivate static func makeRange(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let count = a.int(0) else { return nil }
        guard count > 0 else { return .list([]) }
        try meter.chargeElements(Int(clamping: count))
        return .list((0..<count).map { .int($0) })
    }

    fileprivate static func flatten(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let list = a.elements(0), let depth = a.count == 1 ? 1 : a.int(1) else { return nil }
        guard depth >= 0 else { throw Fault("level must be non-negative") }
        var flat: [Value] = []
        try flatten(list, depth: depth, into: &flat, &meter)
        return .list(flat)
    }

    /// The depth of the value bounds the recursion.
    private static func flatten(
        _ list: ValueList, depth: Int64, into flat: inout [Value], _ meter: inout Meter
    ) throws(Fault) {
        try meter.charge(list.count)
        for element in list {
            if depth > 0, case .list(let inner) = element {
                try flatten(inner, depth: depth - 1, into: &flat, &meter)
            } else {
                flat.append(element)
                if flat.count > meter.limits.resultSize { try meter.chargeElements(flat.count) }
            }
        }
    }

    /// Keeps the first of equal elements. Strings, whole numbers and bools are found by hash, others by comparison.
    fileprivate static func distinct(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let list = a.elements(0) else { return nil }
        try meter.chargeElements(list.count)
        var found: [Value] = []
        var keys = ValueMap()
        var others: [Value] = []
        next: for element in list {
            switch element {
            case .string, .int, .uint, .bool:
                try meter.charge(Machine.stepsPerEntry)
                try meter.chargeKey(element)
                if keys.position(of: element) != nil { continue }
                keys[element] = .null
            case .double(let number) where Int64(exactly: number) != nil || UInt64(exactly: number) != nil:
                if keys.position(of: element) != nil { continue }
                keys[element] = .null
            default:
                try meter.charge(others.count)
                for other in others where try Equality.areEqual(element, other, &meter) { continue next }
                others.append(element)
            }
            found.append(element)
        }
        return .list(found)
    }
}

/// Sorting of lists by keys that have an order.
enum Sorting {
    /// Stable. All keys must have one type, which must be ordered.
    static func sortElements(_ elements: [Value], by keys: [Value], _ meter: inout Meter) throws(Fault) -> [Value] {
        guard let first = keys.first else { return [] }
        var levels = 1
        while 1 << levels < keys.count { levels += 1 }
        try meter.chargeElements(keys.count, steps: 1 + levels)
        for key in keys {
            if case .string(let text) = key { try meter.chargeBytes(text.utf8.count * levels) }
            if case .bytes(let bytes) = key { try meter.chargeBytes(bytes.count * levels) }
            guard key.typeName == first.typeName else { throw Fault("list elements must have the same type") }
            guard Equality.order(key, key) != nil else {
                throw Fault("no such overload: values of type '\(key.shortTypeName)' have no order")
            }
        }
        let order = keys.indices.sorted { a, b in
            switch Equality.order(keys[a], keys[b]) {
            case .less: true
            case .greater: false
            default: a < b
            }
        }
        return order.map { elements[$0] }
    }
}

/// Lists as sets under CEL's `==`.
enum SetLibrary {
    /// True if each of `parts` equals an element of `whole`.
    fileprivate static func contains(_ whole: ValueList, _ parts: ValueList, _ meter: inout Meter) throws(Fault) -> Bool
    {
        next: for part in parts {
            try meter.charge(whole.count + 1)
            for element in whole where try Equality.areEqual(element, part, &meter) { continue next }
            return false
        }
        return true
    }
}
