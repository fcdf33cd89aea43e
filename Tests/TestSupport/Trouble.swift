import Glibc

/// Something that a test or a benchmark needs did not work.
public struct Trouble: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }

    /// A call of the system that failed just now.
    public init(call: String) { self.init("\(call): \(String(cString: strerror(errno)))") }
}
