import AttributeValues

/// How an input is found in a map of bindings: the names on the way as values, so that looking up makes none.
struct InputWay {
    enum Kind: UInt8 {
        case whole
        /// The commonest paths: one key of a map.
        case field, fieldPresence
        case path
    }

    let kind: Kind
    var variable: Value
    /// A field's key.
    var key = Value.null
    /// For a variable in a namespace: the namespace, and the name in it.
    var namespace = Value.null
    var nameInside = Value.null

    init(_ input: RuleInput) {
        variable = .string(input.variable)
        if let name = input.namespace {
            namespace = .string(name)
            nameInside = .string(input.name)
        }
        if input.steps.isEmpty || input.isDynamic {
            kind = .whole
        } else if input.steps.count == 1, case .key(let name) = input.steps[0] {
            key = .string(name)
            kind = input.isPresence ? .fieldPresence : .field
        } else {
            kind = .path
        }
    }
}

extension UnsafeMutablePointer<InputWay> {
    /// The value of the input's variable, where it lies in the map of bindings.
    @inline(__always)
    func variable(in bindings: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        bindings.element(of: &pointee.variable) ?? variableOfNamespace(in: bindings)
    }

    @inline(never)
    private func variableOfNamespace(in bindings: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        bindings.element(of: &pointee.namespace)?.element(of: &pointee.nameInside)
    }
}

extension RuleInput {
    /// The failure of bindings without this input's variable.
    var missing: Failure { Failure(.ruleFailed, "no such attribute: \(variable)") }
}
