import Glibc

/// Standard input, output and error: what a program finds open when it starts, unless its caller has closed them.
enum StandardDescriptors {
    /// Takes the numbers of those that are closed, so that nothing that is opened later comes to stand there: what is printed
    /// would go to the daemon. Reading and writing them fails as it does when they are closed.
    /// - Throws: `system`, where there is nothing to put there.
    static func fill() throws(Complaint) {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is given out, which is this one.
            guard open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY) == number else {
                throw Complaint(.system, "/dev/null: \(String(cString: strerror(errno)))")
            }
        }
    }
}
