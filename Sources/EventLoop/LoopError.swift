import CLibuv

/// A call to the operating system or to libuv that failed.
public struct LoopError: Error, Hashable {
    /// The call, as `uv_listen` or `bind`.
    public var call: String
    /// The errno, positive.
    public var number: Int32
    /// The object of the call (a path, a setting), if it helps the reader.
    public var subject: String?

    /// - Parameter number: an errno, or libuv's negative of it.
    public init(call: String, number: Int32, subject: String? = nil) {
        self.call = call
        self.number = abs(number)
        self.subject = subject
    }

    /// `EADDRINUSE`
    public var name: String { String(cString: uv_err_name(-number)) }
    public var message: String { String(cString: uv_strerror(-number)) }
}

extension LoopError: CustomStringConvertible {
    public var description: String {
        "\(call): \(message) (\(name))" + (subject.map { ": \($0)" } ?? "")
    }
}

/// Throws the error of a libuv call that returned a negative number.
@discardableResult
func check(_ result: Int32, _ call: String, _ subject: String? = nil) throws(LoopError) -> Int32 {
    if result < 0 { throw LoopError(call: call, number: result, subject: subject) }
    return result
}
