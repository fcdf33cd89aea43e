import AttributeValues

extension Animation {
    /// Reads an animation from JSON: the text form as a string, or
    /// `{"curve": {"easeInOut": {"duration": 1}}, "modifiers": [{"delay": 0.2}]}`.
    ///
    /// A curve or modifier is an object with its name as the only key, or its name alone. The value of the key is an
    /// object of arguments, the one positional argument, or a list for `keyframes` and `phases`.
    public init(_ value: Value) throws(AnimationError) {
        if case .string(let text) = value {
            try self.init(text)
        } else {
            try self.init(try Animation.chain(value, "", depth: 0))
        }
    }

    /// The JSON form. Reading it gives an equal animation.
    public var json: Value { Animation.json(calls) }
}

// Reading. Recursion is bounded by `AnimationLimits.nesting`.
extension Animation {
    private static func chain(_ value: Value, _ pointer: String, depth: Int) throws(AnimationError) -> [Call] {
        guard depth < AnimationLimits.nesting else {
            throw AnimationError("an animation is nested too deep", pointer: pointer)
        }
        guard case .map(let map) = value else {
            throw AnimationError(
                "an animation is \(value.shortTypeName)", pointer: pointer,
                hint: "it is a string or an object with 'curve' and 'modifiers'")
        }
        for key in map.keys where key != "curve" && key != "modifiers" {
            throw AnimationError(
                "an animation has no member '\(key.string ?? "")'", pointer: pointer,
                hint: "it has 'curve' and 'modifiers'")
        }
        guard let curve = map["curve"] else { throw AnimationError("an animation lacks 'curve'", pointer: pointer) }
        var calls = [try call(curve, pointer + "/curve", depth: depth)]
        switch map["modifiers"] {
        case nil, .null?: break
        case .list(let modifiers)?:
            for (i, modifier) in modifiers.enumerated() {
                calls.append(try call(modifier, pointer + "/modifiers/\(i)", depth: depth))
            }
        default: throw AnimationError("'modifiers' is not a list", pointer: pointer + "/modifiers")
        }
        return calls
    }

    private static func call(_ value: Value, _ pointer: String, depth: Int) throws(AnimationError) -> Call {
        if case .string(let name) = value { return Call(name, at: .pointer(pointer)) }
        guard case .map(let map) = value, map.count == 1, case .string(let name) = map.entry(at: 0).key else {
            throw AnimationError("expected a name, or an object with a name as its only key", pointer: pointer)
        }
        var call = Call(name, at: .pointer(pointer))
        let path = pointer + "/" + name
        switch map.entry(at: 0).value {
        case .null, .bool(true): break
        case .map(let arguments):
            for i in 0..<arguments.count {
                let (key, value) = arguments.entry(at: i)
                let label = key.string ?? ""
                call.arguments.append(
                    Argument(label, try term(value, path + "/" + label, depth: depth), at: .pointer(path + "/" + label))
                )
            }
        case .list(let elements):
            guard elements.count <= AnimationLimits.keyframes else {
                throw AnimationError("'\(name)' has too many arguments", pointer: path)
            }
            for (i, element) in elements.enumerated() {
                call.arguments.append(
                    Argument(nil, try term(element, path + "/\(i)", depth: depth), at: .pointer(path + "/\(i)")))
            }
        case let single: call.arguments.append(Argument(nil, try term(single, path, depth: depth), at: .pointer(path)))
        }
        return call
    }

    private static func term(_ value: Value, _ pointer: String, depth: Int) throws(AnimationError) -> Term {
        guard depth < AnimationLimits.nesting else {
            throw AnimationError("an animation is nested too deep", pointer: pointer)
        }
        if let number = value.number { return .number(number) }
        switch value {
        case .bool(let truth): return .boolean(truth)
        case .map(let map) where map["curve"] != nil: return .chain(try chain(value, pointer, depth: depth + 1))
        case .string(let text):
            do throws(AnimationError) { return .chain(try Animation.parseCalls(text)) } catch {
                throw AnimationError(error.description, pointer: pointer)
            }
        case .map: return .chain([try call(value, pointer, depth: depth + 1)])
        default:
            throw AnimationError("expected a number, a name or an object, not \(value.shortTypeName)", pointer: pointer)
        }
    }
}

// Writing.
extension Animation {
    private static func json(_ calls: [Call]) -> Value {
        var object = ValueMap()
        guard let curve = calls.first else { return .map(object) }
        object["curve"] = json(curve)
        if calls.count > 1 { object["modifiers"] = .list(calls.dropFirst().map(json)) }
        return .map(object)
    }

    static func json(_ call: Call) -> Value {
        var object = ValueMap()
        object[call.name] = arguments(call)
        return .map(object)
    }

    private static func arguments(_ call: Call) -> Value {
        if Signature.lists.contains(call.name) {
            return .list(call.arguments.map { json($0.term, isAnimation: false) })
        }
        if call.arguments.count == 1, call.arguments[0].label == nil {
            return json(call.arguments[0].term, isAnimation: false)
        }
        var positional =
            (Signature.curves + Signature.modifiers + Signature.keyframes + Signature.phases).first {
                $0.name == call.name
                    && $0.parameters.filter(\.isPositional).count == call.arguments.filter { $0.label == nil }.count
            }?.parameters.filter(\.isPositional).map(\.label)[...] ?? []
        var object = ValueMap()
        for argument in call.arguments {
            guard let label = argument.label ?? positional.popFirst() else { continue }
            object[label] = json(argument.term, isAnimation: label == "animation")
        }
        return .map(object)
    }

    private static func json(_ term: Term, isAnimation: Bool) -> Value {
        switch term {
        case .number(let number): .wholeOrDouble(number)
        case .boolean(let truth): .bool(truth)
        case .chain(let calls) where isAnimation: json(calls)
        case .chain(let calls) where calls.count == 1 && calls[0].arguments.isEmpty: .string(calls[0].name)
        case .chain(let calls): calls.first.map(json) ?? .null
        }
    }
}

extension Value {
    /// An int if the number is whole, as a person would write it in JSON.
    static func wholeOrDouble(_ number: Double) -> Value {
        number.magnitude < 0x1p53
            ? Int64(exactly: number).map { number.sign == .minus && $0 == 0 ? .double(number) : .int($0) }
                ?? .double(number) : .double(number)
    }

    /// A number, or null for NaN and the infinities, which JSON does not have.
    static func finite(_ number: Double) -> Value { number.isFinite ? .wholeOrDouble(number) : .null }
}
