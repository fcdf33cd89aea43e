import AttributeValues
import Glibc

/// A daemon on a socket in a folder of its own, for as long as this lives, and what the kernel says of it.
public final class DaemonProcess {
    private let folder: String
    /// Where it keeps its store; nil: it has none.
    public let store: String?
    private var process: pid_t = 0

    public struct Trouble: Error, CustomStringConvertible {
        public var description: String

        public init(description: String) { self.description = description }
    }

    /// `agd` beside this program; nil where it has not been built.
    public static var program: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink("/proc/self/exe", &bytes, bytes.count - 1) > 0 else { return nil }
        let own = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/agd"
        return access(path, X_OK) == 0 ? path : nil
    }

    /// - Parameters:
    ///   - scene: a document that it is started with.
    ///   - hasStore: it keeps a store, which confirms nothing to the disk.
    public init(_ program: String, scene: String, hasStore: Bool = false) throws {
        var template = Array("/tmp/agd-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble(description: "mkdtemp: errno \(errno)") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        store = hasStore ? folder + "/store" : nil
        try write(scene, to: folder + "/scene.json")
        var words = [program, "--socket", folder + "/agd.sock", "--scene", folder + "/scene.json"]
        if let store {
            guard mkdir(store, 0o700) == 0 else { throw Trouble(description: "mkdir \(store): errno \(errno)") }
            try write("state-directory = \(store)\ndurability = off\n", to: folder + "/agd.conf")
            words += ["--config", folder + "/agd.conf"]
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let result = posix_spawn(&process, program, nil, nil, &arguments, environ)
        guard result == 0 else { throw Trouble(description: "posix_spawn \(program): errno \(result)") }
    }

    private func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Trouble(description: "fopen \(path): errno \(errno)") }
        defer { fclose(file) }
        guard fputs(text, file) >= 0 else { throw Trouble(description: "fputs \(path): errno \(errno)") }
    }

    deinit {
        kill(process, SIGKILL)   // nothing it keeps is wanted
        var status: Int32 = 0
        waitpid(process, &status, 0)
        if let store { DaemonProcess.remove(store) }
        DaemonProcess.remove(folder)
    }

    /// Removes a folder of files.
    public static func remove(_ folder: String) {
        if let entries = opendir(folder) {
            while let entry = readdir(entries) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                unlink(folder + "/" + name)
            }
            closedir(entries)
        }
        rmdir(folder)
    }

    public var socketPath: String { folder + "/agd.sock" }

    /// Seconds of processor time that the daemon has had.
    public var processorTime: Double {
        // Behind the name in brackets: utime and stime are the 12th and 13th.
        let fields = (text(of: "stat").split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return .nan }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// How often it has gone to sleep and been woken.
    public var wakes: Int { status("voluntary_ctxt_switches:") }
    /// Kilobytes of it in memory.
    public var residentKilobytes: Int { status("VmRSS:") }

    private func status(_ name: String) -> Int {
        for line in text(of: "status").split(separator: "\n") where line.hasPrefix(name) {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).lazy.compactMap { Int($0) }.first ?? -1
        }
        return -1
    }

    private func text(of name: String) -> String {
        guard let file = fopen("/proc/\(process)/\(name)", "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }
}

/// A client of the daemon that speaks the bare protocol.
public final class DaemonClient {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 1 << 18)

    /// Waits until the daemon listens.
    public init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let deadline = seconds() + 30
        let descriptor = descriptor
        func isConnected() -> Bool {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
            } == 0
        }
        while !isConnected() {
            guard seconds() < deadline else { throw DaemonProcess.Trouble(description: "the daemon does not listen") }
            usleep(20_000)
        }
    }

    deinit { close(descriptor) }

    /// Sends one request and reads up to its reply; events before it are passed over.
    @discardableResult
    public func call(_ method: String, _ parameters: String) throws -> Value {
        var bytes = Array((#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"# + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw DaemonProcess.Trouble(description: "send: errno \(errno)") }
            bytes = bytes.dropFirst(count)
        }
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received[..<end]
                received.removeSubrange(...end)
                guard !line.starts(with: #"{"jsonrpc":"2.0","method""#.utf8) else { continue }
                let reply = try JSONParser.parseOnce(line)
                guard let result = reply.map?["result"] else { throw DaemonProcess.Trouble(description: "\(method): \(reply)") }
                return result
            }
            received += try read(until: .infinity)
        }
    }

    /// Reads all that comes for some seconds.
    /// - Returns: messages and bytes.
    public func drain(seconds length: Double) throws -> (messages: Int, bytes: Int) {
        let deadline = seconds() + length
        var (messages, bytes) = (0, 0)
        while seconds() < deadline {
            let part = try read(until: deadline)
            bytes += part.count
            messages += part.withUnsafeBytes { part in
                var (count, at) = (0, 0)
                while at < part.count, let start = part.baseAddress, let found = memchr(start + at, 0x0A, part.count - at) {
                    count += 1
                    at = UnsafeRawPointer(found) - start + 1
                }
                return count
            }
        }
        return (messages, bytes)
    }

    private func read(until deadline: Double) throws -> ArraySlice<UInt8> {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let wait = deadline == .infinity ? -1 : Int32(max(0, (deadline - seconds()) * 1000))
        guard poll(&poller, 1, wait) > 0 else { return [] }
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { throw DaemonProcess.Trouble(description: "the daemon went away") }
        return chunk[..<count]
    }
}

/// Seconds on the monotonic clock.
public func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
