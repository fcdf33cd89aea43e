final class Statistics {
    var requests: UInt64 = 0
    var refusals: UInt64 = 0
    var refusedOnDisconnect: UInt64 = 0
    var denials: UInt64 = 0
    var events: UInt64 = 0
    var conflated: UInt64 = 0
    var frames: UInt64 = 0
    var steps = 0
}
