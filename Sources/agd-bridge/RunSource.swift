import AGClient
import AttributeValues
import CommandArguments
import Glibc

/// A program that is run at regular times, or goes on and prints a line for each value. No shell is involved.
final class RunSource {
    private let feed: Feed
    private let words: [String]
    private let interval: Double?
    /// The longest time of one run, in seconds; for a program that goes on, there is none.
    private let time: Double
    private let limit: Int
    private let value: LastValue
    private let parser = JSONParser()
    /// The running program. It leads a process group.
    private var process: pid_t?
    /// Its output; -1 once that has ended.
    private(set) var descriptor: Int32 = -1
    private var output: [UInt8] = []
    private var end = Double.infinity
    private var startTime: Double
    private var failure: String?
    private var backoff = Backoff(first: 1, longest: 60)
    /// How often a program is looked for that has closed its output.
    private static let shortPause = 0.02
    private static let readSize = 64 << 10
    private static let readsAtOnce = 16

    init(_ run: Configuration.Run, _ settings: Configuration, _ feed: Feed, _ now: Double) {
        self.feed = feed
        words = run.words
        interval = run.interval
        time = settings.answerTime
        limit = settings.answerSize
        value = LastValue(run.target, run.rule)
        startTime = now + .random(in: 0...min(run.interval ?? 1, 1))
        feed.add(value, run.target.attribute, LastValue.document)
    }

    deinit { stop() }

    func nextTime(_ now: Double) -> Double {
        if process == nil { return startTime }
        return descriptor < 0 ? now + RunSource.shortPause : end
    }

    func work(_ now: Double) {
        if process == nil, now >= startTime { start(now) }
        if descriptor >= 0 { read() }
        guard let process else { return }
        if now >= end, failure == nil {
            failure = "the program has not ended within \(time) s (answer-time)"
            kill(-process, SIGKILL)
        }
        guard descriptor < 0 else { return }
        var status: Int32 = 0
        if waitpid(process, &status, WNOHANG) == process { ended(status, now) }
    }

    private func start(_ now: Double) {
        startTime = interval.map { max(startTime + $0, now) } ?? .infinity
        (output, failure) = ([], nil)
        do throws(Failure) { try spawn() } catch {
            feed.fail(error.message)
            if interval == nil { startTime = now + backoff.pause() * .random(in: 0.5...1.5) }
            return
        }
        end = interval == nil ? .infinity : now + time
    }

    private func spawn() throws(Failure) {
        func check(_ code: Int32, _ call: String) throws(Failure) {
            if code != 0 { throw Failure(.unavailable, "\(call): \(String(cString: strerror(code)))") }
        }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(.unavailable, "pipe: \(String(cString: strerror(errno)))") }
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
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
            throw Failure(.unavailable, "cannot run \(words[0]): \(String(cString: strerror(code)))")
        }
        self.process = process
        descriptor = ends[0]
    }

    private func read() {
        for _ in 0..<RunSource.readsAtOnce {
            let before = output.count
            output.append(contentsOf: repeatElement(0, count: RunSource.readSize))
            let count = output.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + before }, RunSource.readSize)
            }
            let code = errno
            output.removeLast(RunSource.readSize - max(0, count))
            if count < 0, code == EAGAIN || code == EINTR { return }
            guard count > 0 else {
                close(descriptor)
                descriptor = -1
                return
            }
            if interval == nil { takeLines() }
            guard output.count <= limit else {
                failure = "the program prints more than \(limit) bytes (answer-size)"
                output = []
                if let process { kill(-process, SIGKILL) }
                return
            }
        }
    }

    /// Takes the whole lines. Only the last one counts, if there are several.
    private func takeLines() {
        guard let end = output.lastIndex(of: UInt8(ascii: "\n")) else { return }
        let lines = output[..<end].split(separator: UInt8(ascii: "\n"))
        output.removeFirst(end + 1)
        guard let line = lines.last else { return }
        backoff.reset()
        take(Array(line))
    }

    private func take(_ bytes: [UInt8]) {
        do throws(Failure) {
            try value.take(try read(bytes))
            feed.succeed()
        } catch { interval == nil ? feed.complain(error.message) : feed.fail(error.message) }
    }

    /// JSON, or else a text; several lines are a list of texts.
    private func read(_ bytes: [UInt8]) throws(Failure) -> Value {
        if let json = bytes.withUnsafeBufferPointer({ try? parser.parse($0).value }) { return json }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.invalid, "the program prints neither JSON nor UTF-8")
        }
        let lines = text.split(whereSeparator: \.isNewline).map { Value.string(String($0)) }
        return lines.count == 1 ? lines[0] : .list(ValueList(lines))
    }

    private func ended(_ status: Int32, _ now: Double) {
        process = nil
        end = .infinity
        let (signal, code) = (status & 0x7f, status >> 8 & 0xff)
        if let failure {
            feed.fail(failure)
        } else if signal != 0 {
            feed.fail("the program was ended by signal \(signal)")
        } else if code != 0 {
            feed.fail("the program has ended with status \(code)")
        } else if interval == nil {
            feed.fail("the program has ended")
        } else {
            take(output)
        }
        output = []
        if interval == nil { startTime = now + backoff.pause() * .random(in: 0.5...1.5) }
    }

    /// Ends the program and those that it has started.
    private func stop() {
        if descriptor >= 0 { close(descriptor) }
        guard let process else { return }
        kill(-process, SIGKILL)
        waitpid(process, nil, 0)
    }
}
