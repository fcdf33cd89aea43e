import AttributeValues

// What lies in registers is moved and copied most often, and is mostly a scalar or a short string. Those hold no reference:
// they may be copied bit by bit, and overwritten without a release, where the general ways cost a call each.

extension UnsafePointer<Value> {
    /// Whether the value here holds no reference.
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

extension UnsafeMutablePointer<Value> {
    /// Whether the value here holds no reference.
    @inlinable
    var holdsNothing: Bool {
        @inline(__always) get { UnsafePointer(self).holdsNothing }
    }

    /// Where no value is, or one that holds nothing.
    @inlinable @inline(__always)
    func initializeCopy(of source: UnsafePointer<Value>) {
        if source.holdsNothing {
            UnsafeMutableRawPointer(self).copyMemory(from: source, byteCount: MemoryLayout<Value>.size)
        } else {
            initialize(to: source.pointee)
        }
    }

    /// Replaces what is here by a copy.
    @inline(__always)
    func assignCopy(of source: UnsafePointer<Value>) {
        if holdsNothing { initializeCopy(of: source) } else { pointee = source.pointee }
    }

    /// Replaces what is here.
    @inline(__always)
    func assign(_ value: consuming Value) {
        if holdsNothing { initialize(to: value) } else { pointee = value }
    }
}
