import AttributeValues
import Glibc

/// Starts programs without a shell. Each leads a process group.
enum ChildProcess {
    /// - Parameters:
    ///   - words: the program, which is looked for in PATH, and its arguments.
    ///   - input: what it reads.
    /// - Returns: the process, and the end of its output to read, which does not block. The caller closes it and waits
    ///   for the process.
    static func start(_ words: [String], input: [UInt8] = []) throws(Failure) -> (process: pid_t, output: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw refusal("pipe", errno) }
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let file = try inputFile(input)
        defer { if let file { fclose(file) } }
        if let file {
            posix_spawn_file_actions_adddup2(&actions, fileno(file), 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var standard = sigset_t()
        sigemptyset(&standard)
        sigaddset(&standard, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &standard)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else {
            close(ends[0])
            throw refusal("cannot run \(words[0])", code)
        }
        return (process, ends[0])
    }

    /// Kills the process with those that it has started.
    static func end(_ process: pid_t) {
        kill(-process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// How a process has ended, in words; nil if it has succeeded.
    static func fault(_ status: Int32) -> String? {
        let (signal, code) = (status & 0x7f, status >> 8 & 0xff)
        if signal != 0 { return "the program was ended by signal \(signal)" }
        return code == 0 ? nil : "the program has ended with status \(code)"
    }

    /// A file without a name, which the program can read at its own pace; nil for no input.
    private static func inputFile(_ input: [UInt8]) throws(Failure) -> UnsafeMutablePointer<FILE>? {
        if input.isEmpty { return nil }
        guard let file = tmpfile() else { throw refusal("tmpfile", errno) }
        _ = fcntl(fileno(file), F_SETFD, FD_CLOEXEC)
        guard fwrite(input, 1, input.count, file) == input.count, fflush(file) == 0, fseek(file, 0, SEEK_SET) == 0
        else {
            let code = errno
            fclose(file)
            throw refusal("write", code)
        }
        return file
    }

    private static func refusal(_ call: String, _ code: Int32) -> Failure {
        Failure(.unavailable, "\(call): \(String(cString: strerror(code)))")
    }
}
