import AttributeGraph

/// The closures that a row may contain, in structs that cannot be copied, so that a call through a pointer borrows the
/// closure: no retain, no release. Each form has a type of its own, because a common generic type would call them
/// through one more indirection.

extension UnsafeMutablePointer where Pointee == ClosureRow {
    /// The closure in the row, which has this form.
    @inlinable @inline(__always)
    func closure<Closure: ~Copyable>(_ type: Closure.Type) -> UnsafeMutablePointer<Closure> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Closure.self)
    }

    /// Installs a closure in a row without one.
    @inlinable @inline(__always)
    func install<Closure: RowClosure & ~Copyable>(_ closure: consuming Closure) {
        initialize(to: ClosureRow())
        self.closure(Closure.self).initialize(to: closure)
        pointee.form = Closure.form
    }
}

/// A closure that a row may contain.
@usableFromInline
protocol RowClosure: ~Copyable {
    static var form: ClosureRow.Form { get }
}

@usableFromInline
struct RuleClosure<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .rule }
    @usableFromInline let body: (GraphContext<Value>) throws -> Value

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (GraphContext<Value>) throws -> Value) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ context: GraphContext<Value>) throws -> Value { try body(context) }
}

@usableFromInline
struct RuleOfOne<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .ruleOfOne }
    @usableFromInline let body: (Value) throws -> Value

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (Value) throws -> Value) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ value: Value) throws -> Value { try body(value) }
}

@usableFromInline
struct RuleOfTwo<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .ruleOfTwo }
    @usableFromInline let body: (Value, Value) throws -> Value

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (Value, Value) throws -> Value) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ one: Value, _ two: Value) throws -> Value { try body(one, two) }
}

@usableFromInline
struct RuleOfMany<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .ruleOfMany }
    @usableFromInline let body: (GraphInputs<Value>) throws -> Value

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (GraphInputs<Value>) throws -> Value) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ inputs: GraphInputs<Value>) throws -> Value { try body(inputs) }
}

@usableFromInline
struct ObserverClosure<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .observer }
    @usableFromInline let body: (GraphContext<Value>) throws -> Void

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (GraphContext<Value>) throws -> Void) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ context: GraphContext<Value>) throws { try body(context) }
}

@usableFromInline
struct ObserverOfOne<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .observerOfOne }
    @usableFromInline let body: (Value) throws -> Void

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (Value) throws -> Void) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ value: Value) throws { try body(value) }
}

@usableFromInline
struct ObserverOfTwo<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .observerOfTwo }
    @usableFromInline let body: (Value, Value) throws -> Void

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (Value, Value) throws -> Void) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ one: Value, _ two: Value) throws { try body(one, two) }
}

@usableFromInline
struct ObserverOfMany<Value: Equatable>: ~Copyable, RowClosure {
    @inlinable static var form: ClosureRow.Form { .observerOfMany }
    @usableFromInline let body: (GraphInputs<Value>) throws -> Void

    @inlinable @inline(__always)
    init(_ body: consuming @escaping (GraphInputs<Value>) throws -> Void) { self.body = body }

    @inlinable @inline(__always)
    borrowing func run(_ inputs: GraphInputs<Value>) throws { try body(inputs) }
}
