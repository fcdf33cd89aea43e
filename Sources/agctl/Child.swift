import AttributeValues
import Glibc

/// A program that agctl runs and waits for.
enum Child {
    /// - Returns: its exit status, or 128 and the number of the signal that ended it.
    /// - Throws: `system` if it cannot be started.
    static func run(_ program: String, _ arguments: [String]) throws(Complaint) -> Int32 {
        try run(program, arguments, nil)
    }

    /// - Returns: also its standard output and standard error. The status is 127 if it cannot be started.
    static func captureOutput(_ program: String, _ arguments: [String]) -> (status: Int32, text: String) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return (127, "") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var text: String?
        // The program has ended when no process has the other end of the pipe open any more.
        let status = try? run(program, arguments, ends[1]) { text = try? TextFile.read(ends[0]) }
        close(ends[0])
        return (status ?? 127, text ?? "")
    }

    /// - Parameters:
    ///   - output: gets its standard output and standard error, and is closed here.
    private static func run(
        _ program: String, _ arguments: [String], _ output: Int32?, _ meanwhile: () -> Void = {}
    ) throws(Complaint) -> Int32 {
        var strings = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
            posix_spawn_file_actions_adddup2(&actions, output, 2)
        }
        var process = pid_t()
        let code = posix_spawnp(&process, program, &actions, nil, &strings, environ)
        if let output { close(output) }
        guard code == 0 else { throw Complaint(.system, "cannot start \(program): \(String(cString: strerror(code)))") }
        meanwhile()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
    }

    /// Goes on as another program of the project, in the same process.
    /// - Returns: only if that is not possible.
    static func become(_ name: String, _ arguments: [String]) -> Complaint {
        let program = neighbour(name)
        var strings = ([program] + arguments).map { strdup($0) } + [nil]
        execvp(program, &strings)
        let number = errno
        return Complaint(
            .system, "cannot start \(program): \(String(cString: strerror(number)))",
            hint: number == ENOENT ? "\(name) is installed beside agctl" : nil)
    }

    /// The path of the program with this name beside agctl. Otherwise the name, which is then searched in PATH.
    static func neighbour(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return name }
        let own = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return name }
        let path = own[...slash] + name
        return access(String(path), X_OK) == 0 ? String(path) : name
    }
}
