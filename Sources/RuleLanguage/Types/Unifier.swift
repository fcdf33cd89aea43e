/// Type agreement with inference: the types to which the type variables are bound. The algorithm is that of cel-go's
/// checker (`checker/types.go`): a variable is bound to the more general of two agreeing types.
struct Unifier {
    /// By the number of the variable.
    private var bindings: [RuleType?] = []

    /// True if no variable exists, so that `substitute` changes nothing.
    var isIdle: Bool { bindings.isEmpty }

    mutating func fresh() -> RuleType {
        bindings.append(nil)
        return .variable(bindings.count - 1)
    }

    /// The type with bound variables replaced.
    func substitute(_ type: RuleType) -> RuleType {
        type.contains { if case .variable = $0 { true } else { false } } ? replace(type) : type
    }

    private func replace(_ type: RuleType) -> RuleType {
        if case .variable(let number) = type { bindings[number].map(replace) ?? type } else { type.mapParts(replace) }
    }

    /// A declared type with its parameters replaced by new variables.
    func instantiate(_ type: RuleType, _ names: [String], _ variables: [RuleType]) -> RuleType {
        if case .parameter(let name) = type { return names.firstIndex(of: name).map { variables[$0] } ?? .dyn }
        return type.mapParts { instantiate($0, names, variables) }
    }

    /// True if values of the types in `a` are accepted for those in `b`. Binds variables only if all pairs agree.
    mutating func agree(_ a: [RuleType], _ b: [RuleType]) -> Bool {
        guard a.count == b.count else { return false }
        if a == b { return true }
        let before = bindings
        for (a, b) in zip(a, b) where !unify(a, b) {
            bindings = before
            return false
        }
        return true
    }

    mutating func agree(_ a: RuleType, _ b: RuleType) -> Bool {
        if case .variable = b {} else if a == b { return true }
        let before = bindings
        if unify(a, b) { return true }
        bindings = before
        return false
    }

    /// The common type of elements, of which some have type `a` and one has type `b`.
    mutating func join(_ a: RuleType?, _ b: RuleType) -> RuleType {
        guard let a else { return b }
        if case .error = b { return a }
        return agree(a, b) ? Unifier.moreGeneral(substitute(a), substitute(b)) : .dyn
    }

    private mutating func unify(_ a: RuleType, _ b: RuleType) -> Bool {
        if case .variable(let number) = b {
            let (isValid, isBound) = bind(number, to: a)
            if isValid { return true }
            if isBound { return false }
        }
        if case .variable(let number) = a { return bind(number, to: b).isValid }
        if a.isDynOrError || b.isDynOrError { return true }
        switch (a, b) {
        case (.scalar(.null), _): return Unifier.isNullable(b)
        case (_, .scalar(.null)): return Unifier.isNullable(a)
        case (.wrapper(let x), .wrapper(let y)): return unify(x, y)
        case (.wrapper(let x), _): return unify(x, b)
        case (_, .wrapper(let y)): return unify(a, y)
        case (.list(let x), .list(let y)): return unify(x, y)
        case (.map(let k, let v), .map(let l, let w)): return unify(k, l) && unify(v, w)
        case (.type, .type): return true
        case (.abstract(let x, let p), .abstract(let y, let q)):
            guard x == y, p.count == q.count else { return false }
            for (p, q) in zip(p, q) where !unify(p, q) { return false }
            return true
        default: return a == b
        }
    }

    private static func isNullable(_ type: RuleType) -> Bool {
        switch type {
        case .wrapper, .abstract, .scalar(.null), .scalar(.timestamp), .scalar(.duration): true
        default: false
        }
    }

    private mutating func bind(_ number: Int, to type: RuleType) -> (isValid: Bool, isBound: Bool) {
        if type == .variable(number) { return (true, true) }
        if let bound = bindings[number] {
            if type == bound { return (true, true) }
            guard unify(type, bound) else { return (false, true) }
            let general = Unifier.moreGeneral(type, bound)
            if !occurs(number, in: general) { bindings[number] = general }
            return (true, true)
        }
        guard !occurs(number, in: type) else { return (false, false) }
        bindings[number] = type
        return (true, false)
    }

    private func occurs(_ number: Int, in type: RuleType) -> Bool {
        type.contains { part in
            guard case .variable(let other) = part else { return false }
            return other == number || bindings[other].map { occurs(number, in: $0) } ?? false
        }
    }

    static func moreGeneral(_ a: RuleType, _ b: RuleType) -> RuleType { isAtLeastAsGeneral(a, b) ? a : b }

    private static func isAtLeastAsGeneral(_ a: RuleType, _ b: RuleType) -> Bool {
        switch (a, b) {
        case (.dyn, _), (.error, _), (.variable, _): true
        case (_, .dyn), (_, .error), (_, .variable): false
        case (.list(let x), .list(let y)): isAtLeastAsGeneral(x, y)
        case (.map(let k, let v), .map(let l, let w)): isAtLeastAsGeneral(k, l) && isAtLeastAsGeneral(v, w)
        case (.type, .type): true
        case (.wrapper(let x), _): x == b || a == b || b == .null
        case (_, .scalar(.null)): true
        case (.abstract(let x, let p), .abstract(let y, let q)):
            x == y && p.count == q.count && zip(p, q).allSatisfy { isAtLeastAsGeneral($0, $1) }
        default: a == b
        }
    }
}
