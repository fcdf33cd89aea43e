import Glibc

package enum StandardOutput {
    /// - Returns: true if everything was written; otherwise `errno` has the reason.
    package static func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { write($0, to: STDOUT_FILENO) }
    }

    /// - Returns: as above.
    package static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
