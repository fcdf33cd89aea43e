import AttributeValues

/// A moment of the past: a time, or a revision.
public enum PastTime: Hashable, Sendable {
    case time(Timestamp)
    /// - Parameter epoch: the life of the graph; nil: the newest that has the revision.
    case revision(UInt64, epoch: String?)

    /// RFC 3339, a number, or `{revision, epoch}`.
    public init(_ value: Value) throws(Failure) {
        switch value {
        case .string(let text):
            if let time = Timestamp(text) {
                self = .time(time)
                return
            }
        case .int(let number) where number >= 0:
            self = .revision(UInt64(number), epoch: nil)
            return
        case .map(let map):
            if case .int(let number)? = map["revision"], number >= 0 {
                self = .revision(UInt64(number), epoch: map["epoch"]?.string)
                return
            }
        default: break
        }
        throw Failure(
            .invalid, "\(value) is no moment",
            hint: "a time as 2026-11-28T03:12:00Z, a revision, or {revision, epoch}")
    }

    public var value: Value {
        switch self {
        case .time(let time): .string("\(time)")
        case .revision(let number, nil): .int(Int64(clamping: number))
        case .revision(let number, let epoch?): ["revision": .int(Int64(clamping: number)), "epoch": .string(epoch)]
        }
    }
}
