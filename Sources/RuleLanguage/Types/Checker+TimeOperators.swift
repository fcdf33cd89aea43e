import AttributeValues

extension Checker {
    /// Checks a call of an operator over time; nil if the scope has no operator of that name.
    mutating func checkTimeOperator(_ id: SyntaxTree.ID) -> RuleType? {
        let name = tree.spelling(id)
        guard !tree[id].flag, let found = TimeOperator(name: name), !(scope.findFunction(name)?.isGlobal ?? false)
        else { return nil }
        let children = tree.children(id).map { Int($0) }
        let form = found.hasSpan ? "\(name)(x, duration('1m'))" : "\(name)(x)"
        guard scope.hasPast else {
            for child in children { _ = check(child) }
            return fail(
                id, "\(name)() needs the past of an attribute, which only the rules of a scene have",
                hint: "put the rule under computed: of a node, and read that attribute here")
        }
        let count = found.hasSpan ? 2 : 1
        let period = found.hasPeriod && children.count > 1 ? tree.constant(children[1])?.string : nil
        let isCounted = period != nil && children.count > 2 && tree[children[2]].kind != .map
        let most = count + (isCounted ? 1 : 0) + (found.hasFalls ? 1 : 0)
        guard (count...most).contains(children.count) else {
            for child in children { _ = check(child) }
            return fail(
                id, "\(name)() takes \(found.hasSpan ? "an attribute and a duration" : "one attribute")",
                hint: "as \(form)")
        }
        let operand = checkAndSubstitute(children[0])
        if found.hasSpan, period == nil { expect(.duration, children[1]) }
        for child in children.dropFirst(count) { _ = check(child) }
        if operand == .error { return .error }
        guard let fault = operandFault(children[0], name, form) else {
            let rest = count + (isCounted ? 1 : 0)
            guard let falls = children.count > rest ? falls(children[rest], name) : found.falls else { return .error }
            let operation: TimeOperator
            if let period {
                guard let wanted = self.period(period, children[1], name),
                    let back = isCounted ? self.back(children[2], name) : 0
                else { return .error }
                operation = TimeOperator(found.kind, falls: falls, period: wanted, back: back)
            } else {
                if found.hasSpan, let given = spanName(children[1]) {
                    operation = TimeOperator(found.kind, falls: falls, spanName: given)
                } else {
                    guard let span = found.hasSpan ? window(children[1], name) : found.span else { return .error }
                    operation = TimeOperator(found.kind, span: span, falls: falls)
                }
            }
            resolutions[id] = .timeOperator(operation)
            return resultType(operation, of: operand, id)
        }
        return fail(children[0], fault.message, hint: fault.hint, at: Int(tree[children[0]].start))
    }

    /// The fault of an operand that is neither an attribute nor a place in one; nil if it is one of them.
    private func operandFault(_ id: SyntaxTree.ID, _ name: String, _ form: String) -> (message: String, hint: String)? {
        let named = "give it a name under computed:, and pass that name, as \(form)"
        var at = id
        while true {
            if scope.isAssembled(types[at]) { return ("\(name)() cannot watch subviews or sections", named) }
            switch resolutions[at] {
            case .variable: return nil
            case .local where tree[at].kind == .identifier:
                return (
                    "\(name)() watches an attribute; '\(tree.spelling(at))' is a variable of this rule",
                    "let each node of a forEach have the value as an attribute, and watch it there"
                )
            default: break
            }
            let node = tree[at]
            guard node.kind == .select || node.kind == .index, !node.flag, types[at].optionalElement == nil else {
                break
            }
            if node.kind == .index {
                switch tree.constant(tree.child(at, 1)) {
                case .string: break
                case .int(let index)? where index >= 0: break
                default: return ("\(name)() watches one part of a value, so this index must be a constant", named)
                }
            }
            at = tree.child(at, 0)
        }
        return ("\(name)() watches an attribute, not the result of an expression", named)
    }

    private mutating func period(_ text: String, _ id: SyntaxTree.ID, _ name: String) -> TimeOperator.Period? {
        if let period = TimeOperator.Period(rawValue: text) { return period }
        fail(
            id, "\(name)() has no period '\(text)'",
            hint: "the periods are \(TimeOperator.Period.names); a duration is written duration('1m')",
            at: Int(tree[id].start))
        return nil
    }

    /// The number of periods before the present one.
    private mutating func back(_ id: SyntaxTree.ID, _ name: String) -> Int? {
        if case .int(let back)? = tree.constant(id), (0...TimeOperator.mostBack).contains(back) { return Int(back) }
        fail(
            id, "\(name)() takes how many periods back as a constant: 0 to \(TimeOperator.mostBack)",
            hint: "as \(name)(x, 'day', 1), which is yesterday", at: Int(tree[id].start))
        return nil
    }

    /// The attribute, or the place in one, that gives the length of a window, as the rule names it; nil for a constant.
    private func spanName(_ id: SyntaxTree.ID) -> String? {
        guard operandFault(id, "", "") == nil else { return nil }
        var text = ""
        var at = id
        while true {
            if case .variable(let number) = resolutions[at] { return variables[number].name.text + text }
            let step: AttributePath.Step
            switch tree[at].kind == .index ? tree.constant(tree.child(at, 1)) : .string(tree.spelling(at)) {
            case .string(let key)?: step = .key(key)
            case .int(let index)?: step = .index(Int(clamping: index))
            default: return nil
            }
            text = step.description + text
            at = tree.child(at, 0)
        }
    }

    /// The constant length of a window; nil after reporting a fault.
    private mutating func window(_ id: SyntaxTree.ID, _ name: String) -> TimeSpan? {
        guard tree[id].kind == .call, tree.spelling(id) == "duration", tree[id].childCount == 1,
            case .string(let text)? = tree.constant(tree.child(id, 0)), let span = TimeSpan(text)
        else {
            if types[id] == .duration {
                fail(
                    id, "the window of \(name)() is a constant or an attribute, not an expression",
                    hint: "write a duration as text: duration('1m'), or give the expression a name under computed:",
                    at: Int(tree[id].start))
            }
            return nil
        }
        if let fault = TimeOperator.fault(of: span) {
            fail(id, fault, at: Int(tree[id].start))
            return nil
        }
        return span
    }

    /// Reads how an operator takes falls of a counter, from a map of constants; nil after reporting a fault.
    private mutating func falls(_ id: SyntaxTree.ID, _ name: String) -> TimeOperator.Falls? {
        let form = "as \(name)(x, duration('1m'), {'dip': 0.1, 'zeros': 1})"
        var falls = TimeOperator.Falls()
        guard tree[id].kind == .map else {
            fail(id, "\(name)() takes what falls mean as a map of constants", hint: form, at: Int(tree[id].start))
            return nil
        }
        let parts = tree.children(id).map { Int($0) }
        for at in stride(from: 0, to: parts.count - 1, by: 2) {
            switch (tree.constant(parts[at]), tree.constant(parts[at + 1])) {
            case (.string("dip"), .double(let part)) where part >= 0 && part < 1: falls.dip = part
            case (.string("dip"), .int(0)): falls.dip = 0
            case (.string("dip"), _):
                fail(
                    parts[at + 1], "'dip' is the part of the value by which it may fall: from 0.0, and below 1.0",
                    hint: form, at: Int(tree[parts[at + 1]].start))
                return nil
            case (.string("zeros"), .int(let count)) where (0...TimeOperator.Falls.mostZeros).contains(count):
                falls.zeros = Int(count)
            case (.string("zeros"), _):
                fail(
                    parts[at + 1],
                    "'zeros' is the number of zeros that are ignored: 0 to \(TimeOperator.Falls.mostZeros)", hint: form,
                    at: Int(tree[parts[at + 1]].start))
                return nil
            case (.string(let key), _):
                fail(
                    parts[at], "\(name)() has no '\(key)'",
                    hint: NearestName.hint(key, among: TimeOperator.Falls.names) ?? form, at: Int(tree[parts[at]].start)
                )
                return nil
            default:
                fail(
                    parts[at], "\(name)() takes what falls mean as a map of constants", hint: form,
                    at: Int(tree[parts[at]].start))
                return nil
            }
        }
        return falls
    }

    private mutating func resultType(_ operation: TimeOperator, of operand: RuleType, _ id: SyntaxTree.ID) -> RuleType {
        let kind = operation.kind
        let isNumber =
            switch operand.unwrapped {
            case .scalar(.int), .scalar(.uint), .scalar(.double), .dyn, .variable: true
            default: false
            }
        // A period before the first value has no result.
        let mayBeNull = operand != operand.unwrapped || operation.back > 0
        switch kind {
        case .previous, .debounced, .throttled, .history, .entries: return operand
        case .changed, .reported: return .timestamp
        case .held:
            if operand == .bool || operand.isDynOrError { return .bool }
            return fail(id, "held() takes a condition, not '\(operand)'", hint: "as held(isOn, duration('5m'))")
        case .rate, .increase, .average, .least, .greatest, .sum, .smoothed:
            guard isNumber else { return fail(id, "\(kind.rawValue)() takes a number, not '\(operand)'") }
            if operand.isDynOrError { return .dyn }
            if kind == .least || kind == .greatest { return mayBeNull ? .wrapper(operand.unwrapped) : operand }
            return mayBeNull ? .wrapper(.double) : .double
        }
    }
}
