/// A date in the proleptic Gregorian calendar, in a few multiplications (Neri and Schneider, "Euclidean affine
/// functions and their application to calendar algorithms", 2022).
@frozen
public struct CalendarDate: Equatable {
    public var year: Int
    /// 1...12
    public var month: Int
    /// 1...31
    public var day: Int

    /// - Parameter days: since 1970-01-01, at most ten million in either direction.
    @inlinable @inline(__always)
    public init(days: Int) {
        // Counted from a first of March 82 eras before the year 0, so that no number is negative.
        let shifted = UInt32(truncatingIfNeeded: days &+ 719_468 &+ 146_097 &* 82)
        let quarters = 4 &* shifted &+ 3
        let century = quarters / 146_097
        let ofCentury = quarters % 146_097 / 4
        let product = 2_939_745 &* UInt64(4 &* ofCentury &+ 3)
        let yearOfCentury = UInt32(truncatingIfNeeded: product >> 32)
        let dayOfYear = UInt32(truncatingIfNeeded: product) / 2_939_745 / 4
        let monthAndDay = 2141 &* dayOfYear &+ 197_913
        // January and February belong to the year that began with March.
        let isNextYear = dayOfYear >= 306
        year = Int(100 &* century &+ yearOfCentury) &- 400 &* 82 &+ (isNextYear ? 1 : 0)
        month = Int(monthAndDay >> 16) &- (isNextYear ? 12 : 0)
        day = Int((monthAndDay & 0xffff) / 2141) &+ 1
    }
}
