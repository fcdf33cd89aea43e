import AttributeValues

/// How to find an input in a map of bindings. The names of the path are stored as values, so that a look-up makes none.
struct InputWay {
    enum Kind: UInt8 {
        case whole
        /// The most common paths: one key of a map.
        case field, fieldPresence
        case path
    }

    let kind: Kind
    var variable: Value
    var key = Value.null
    /// For a variable in a namespace: the namespace, and the name in it.
    var namespace = Value.null
    var nameInside = Value.null

    init(_ input: RuleInput) {
        variable = .string(input.variable)
        if let name = input.namespace {
            namespace = .string(name)
            nameInside = .string(input.name.text)
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
    /// A pointer to the value of the input's variable in the map of bindings.
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
    /// The failure if the bindings do not contain this input's variable.
    var missing: Failure { Failure(.ruleFailed, "no such attribute: \(variable)") }
}
