import Glibc

/// Standard input, output and error. They are open when a program starts, unless its caller has closed them.
package enum StandardDescriptors {
    /// Occupies the numbers of closed standard descriptors. Otherwise a later descriptor could get such a number, and
    /// printed text would go to a client or into a file. Reading and writing them fails as if they were closed.
    /// - Throws: if `/dev/null` cannot be opened.
    package static func fill() throws(Fault) {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 && errno == EBADF {
            // The system gives out the lowest free number, which is this one.
            guard open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY) == number else {
                throw Fault(message: "/dev/null: \(String(cString: strerror(errno)))")
            }
        }
    }

    package struct Fault: Error {
        package let message: String
    }
}
