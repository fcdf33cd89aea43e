import AttributeGraph
import AttributeValues
import SceneModel

// Values are written as values of their type, and no longer than the limit.

extension TransactedWiring {
    /// Refuses a value that is longer than the limit. O(parts of the value), which is charged to the request.
    /// - Returns: the bytes that it may still grow by.
    @discardableResult
    func refuseLong(_ value: Value, at path: @autoclosure () -> AttributePath) throws(Failure) -> Int {
        var budget = limits.valueSize
        value.draw(from: &budget, isTyped: false)
        guard budget >= 0 else { throw tooLong(path()) }
        try charge((limits.valueSize - budget) / Budget.bytesPerStep)
        return budget
    }

    private func tooLong(_ path: AttributePath) -> Failure {
        Failure(
            .limit, "\(path) would have a value of more than \(limits.valueSize) bytes", path: path.description,
            hint: "the setting value-size is the limit")
    }

    /// A written value converted to its type, and no longer than the limit; nil if it does not fit the type. If the old
    /// value is long, the parts that both share are neither converted nor measured.
    /// - Parameters:
    ///   - old: the state's value so far, which has the type.
    ///   - mayGrow: whether it may be longer than the value that it replaces. What the type adds does not count.
    ///   - bytesLeft: the bytes that the state's value may still grow by; nil: not known.
    func acceptWrite(
        _ value: Value, after old: Value, as type: ValueType, at path: @autoclosure () -> AttributePath, mayGrow: Bool,
        bytesLeft: inout Int?
    ) throws(Failure) -> Value? {
        guard let left = bytesLeft, let accepted = type.accept(value, after: old) else {
            return try acceptWhole(value, as: type, at: path(), mayGrow: mayGrow, bytesLeft: &bytesLeft)
        }
        let growth = accepted.growth(since: old)
        guard growth.bytes <= left || !mayGrow else { throw tooLong(path()) }
        try charge(growth.measured / Budget.bytesPerStep)
        bytesLeft = left - growth.bytes
        return accepted
    }

    /// The same without an old value.
    func acceptWhole(
        _ value: Value, as type: ValueType, at path: @autoclosure () -> AttributePath, mayGrow: Bool,
        bytesLeft known: inout Int?
    ) throws(Failure) -> Value? {
        known = nil
        var budget = limits.valueSize
        // Only objects need the declarations, which have to be copied for them.
        let accepted = type.accept(value) { declarations.makeObject($0, $1, withComputed: false, within: &budget) }
        guard budget >= 0 else { throw tooLong(path()) }
        guard let accepted, mayGrow || budget < limits.valueSize else { return accepted }
        let left = try refuseLong(accepted, at: path())
        if limits.valueSize - left >= TransactedWiring.longValue, type.objectNames.isEmpty { known = left }
        return accepted
    }

    /// Values of so many bytes are measured once. After that only what changes in them is measured.
    private static let longValue = 4096
}
