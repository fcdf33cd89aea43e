import AttributeValues

// Values in registers are moved and copied most often, and most are scalars or short strings. Those have no reference:
// they may be copied bit by bit, and overwritten without a release, where the general operations cost a call each. The
// machine knows when no register has a reference. Then it does not even check the overwritten value.

extension Value {
    /// True if the value has no reference.
    @inlinable
    var retainsNothing: Bool {
        @inline(__always) get {
            switch self {
            case .null, .bool, .int, .uint, .double, .timestamp, .duration: true
            case .string(let text): text.isSmall
            default: false
            }
        }
    }
}

extension UnsafePointer<Value> {
    /// True if the value at this address has no reference. Does not copy it.
    @inlinable
    var retainsNothing: Bool {
        @inline(__always) get {
            switch pointee {
            case .null, .bool, .int, .uint, .double, .timestamp, .duration: true
            case .string: shortText != nil
            default: false
            }
        }
    }
}

extension Machine {
    @inline(__always)
    private func isFree(_ register: UnsafeMutablePointer<Value>) -> Bool {
        !retained.contains(.byRegisters) || UnsafePointer(register).retainsNothing
    }

    /// Stores a value in a register without a reference.
    @inlinable @inline(__always)
    mutating func fill(_ register: UnsafeMutablePointer<Value>, with value: consuming Value) {
        if !value.retainsNothing { retained.insert(.byRegisters) }
        register.initialize(to: value)
    }

    /// Stores a copy in a register without a reference.
    @inlinable @inline(__always)
    mutating func fill(_ register: UnsafeMutablePointer<Value>, copying source: UnsafePointer<Value>) {
        if source.retainsNothing {
            UnsafeMutableRawPointer(register).copyMemory(from: source, byteCount: MemoryLayout<Value>.size)
        } else {
            retained.insert(.byRegisters)
            register.initialize(to: source.pointee)
        }
    }

    /// Replaces the value in a register.
    @inline(__always)
    mutating func set(_ register: UnsafeMutablePointer<Value>, to value: consuming Value) {
        if isFree(register) { fill(register, with: value) } else { register.pointee = value }
    }

    /// Replaces the value in a register by a copy.
    @inline(__always)
    mutating func set(_ register: UnsafeMutablePointer<Value>, copying source: UnsafePointer<Value>) {
        if isFree(register) { fill(register, copying: source) } else { register.pointee = source.pointee }
    }
}
