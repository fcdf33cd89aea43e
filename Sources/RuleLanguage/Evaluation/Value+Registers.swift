import AttributeValues

// What lies in registers is moved and copied most often, and is mostly a scalar or a short string. Those hold no reference:
// they may be copied bit by bit, and overwritten without a release, where the general ways cost a call each. While no
// register holds a reference, which the machine knows, not even what is overwritten is looked at.

extension Value {
    /// Whether the value holds no reference.
    @inlinable
    var holdsNothing: Bool {
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
    /// Whether the value here holds no reference, without taking it from there.
    @inlinable
    var holdsNothing: Bool {
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
        !held.contains(.byRegisters) || UnsafePointer(register).holdsNothing
    }

    /// Puts a value in a register that holds nothing.
    @inlinable @inline(__always)
    mutating func fill(_ register: UnsafeMutablePointer<Value>, with value: consuming Value) {
        if !value.holdsNothing { held.insert(.byRegisters) }
        register.initialize(to: value)
    }

    /// Puts a copy in a register that holds nothing.
    @inlinable @inline(__always)
    mutating func fill(_ register: UnsafeMutablePointer<Value>, copying source: UnsafePointer<Value>) {
        if source.holdsNothing {
            UnsafeMutableRawPointer(register).copyMemory(from: source, byteCount: MemoryLayout<Value>.size)
        } else {
            held.insert(.byRegisters)
            register.initialize(to: source.pointee)
        }
    }

    /// Replaces what is in a register.
    @inline(__always)
    mutating func set(_ register: UnsafeMutablePointer<Value>, to value: consuming Value) {
        if isFree(register) { fill(register, with: value) } else { register.pointee = value }
    }

    /// Replaces what is in a register by a copy.
    @inline(__always)
    mutating func set(_ register: UnsafeMutablePointer<Value>, copying source: UnsafePointer<Value>) {
        if isFree(register) { fill(register, copying: source) } else { register.pointee = source.pointee }
    }
}
