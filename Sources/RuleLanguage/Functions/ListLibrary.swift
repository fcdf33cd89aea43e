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
        define(
            "list(int)|list(uint)|list(double)|list(duration)::sum() -> int|uint|double|duration", work: Work(base: 5),
            code: ListLibrary.sum)
        define(
            "list(int)|list(uint)|list(double)|list(duration)::average([dyn]) -> double|double|double|duration",
            work: Work(base: 5), code: ListLibrary.average)
        define("list(A)::min([A]) -> A") { (a, meter) throws(Fault) in
            try ListLibrary.extremum(.less, a, "min", &meter)
        }
        define("list(A)::max([A]) -> A") { (a, meter) throws(Fault) in
            try ListLibrary.extremum(.greater, a, "max", &meter)
        }
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

extension FunctionList {
    mutating func defineMaps() {
        let copy = Work(base: 1 + Machine.stepsPerEntry)
        define("map(A,B)::with(A,B) -> map(A,B)", work: copy) { (a, meter) throws(Fault) in
            guard var map = a[0].map else { return nil }
            guard a[1].isKey else { throw Fault("unsupported key type: '\(a[1].shortTypeName)'") }
            try meter.chargeElements(map.count + 1)
            map[a[1]] = a[2]
            return .map(map)
        }
        define("map(A,B)::merge(map(A,B)) -> map(A,B)", work: copy) { (a, meter) throws(Fault) in
            guard var map = a[0].map, let other = a[1].map else { return nil }
            try meter.chargeElements(map.count + other.count)
            try meter.charge(other.count * Machine.stepsPerEntry)
            for position in 0..<other.count {
                let (key, value) = other.entry(at: position)
                try meter.chargeKey(key)
                map[key] = value
            }
            return .map(map)
        }
    }
}

enum ListLibrary {
    fileprivate static func slice(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let list = a.elements(0), let first = a.int(1), let behind = a.int(2) else { return nil }
        let start = Int(clamping: min(max(first, 0), Int64(list.count)))
        let end = Int(clamping: min(max(behind, Int64(start)), Int64(list.count)))
        try meter.chargeElements(end - start)
        return .list(Array(list[start..<end]))
    }

    // MARK: numbers of a list

    /// As the elements with `+` between them; 0 for an empty list.
    fileprivate static func sum(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let list = a.elements(0) else { return nil }
        return try sum(list, "sum", &meter)
    }

    private static func sum(_ list: ValueList, _ name: String, _ meter: inout Meter) throws(Fault) -> Value {
        guard var sum = list.first else { return .int(0) }
        switch sum {
        case .int, .uint, .double, .duration: break
        default: throw Fault("\(name)() adds numbers or durations, not a value of type '\(sum.shortTypeName)'")
        }
        for element in list.dropFirst() { sum = try Operators.apply(.add, sum, element, mixes: true, &meter) }
        return sum
    }

    fileprivate static func average(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let list = a.elements(0) else { return nil }
        if list.isEmpty {
            let value = try standard(a, "average")
            if case .duration = value { return value }
            if let number = value.number { return .double(number) }
            throw Fault(
                "average() of an empty list is a number or a duration, not a value of type '\(value.shortTypeName)'")
        }
        switch try sum(list, "average", &meter) {
        case .duration(let span): return .duration(TimeSpan(nanoseconds: span.nanoseconds / Int64(list.count)))
        case let sum: return sum.number.map { .double($0 / Double(list.count)) }
        }
    }

    fileprivate static func extremum(
        _ wanted: Equality.Order, _ a: Arguments, _ name: String, _ meter: inout Meter
    ) throws(Fault) -> Value? {
        guard let list = a.elements(0) else { return nil }
        guard var best = list.first else { return try standard(a, name) }
        for element in list {
            if case .string(let text) = element { try meter.chargeBytes(2 * text.utf8.count) }
            guard let order = Equality.order(element, best) else {
                if element.number != nil, best.number != nil { continue }
                throw Fault(
                    "\(name)() compares elements of one type that have an order, not '\(best.shortTypeName)' and "
                        + "'\(element.shortTypeName)'")
            }
            if order == wanted { best = element }
        }
        return best
    }

    /// The result of a function for an empty list: its second argument.
    static func standard(_ a: Arguments, _ name: String) throws(Fault) -> Value {
        guard a.count > 1 else {
            throw Fault("\(name)() of an empty list", hint: "give a value for an empty list, as list.\(name)(0)")
        }
        return a[1]
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
