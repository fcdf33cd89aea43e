/// What a service, a session or a container uses (`/sys/fs/cgroup`, see the kernel's cgroup-v2).
struct ControlGroup: Equatable, Sendable {
    /// Below `/sys/fs/cgroup`.
    var path: String
    /// Microseconds on a CPU.
    var usage: Int64
    /// nil for other groups.
    var container: Container?
    /// Bytes, with the cache of its files; nil if the kernel does not count them.
    var memory: Int64?
    /// Bytes; nil if there is no limit.
    var limit: Int64?
    var tasks: Int64?

    struct Container: Equatable, Sendable {
        /// What runs it, as `docker`.
        var runtime: String
        var name: String
    }

    /// A machine with more groups shows the first ones.
    static let most = 1000
    private static let root = "fs/cgroup"
    private static let mostLevels = 8

    /// All groups below slices. What is inside a group counts for the group. It is empty on machines with the first
    /// version of cgroups.
    static func read(_ sys: SystemFolder) -> [ControlGroup] {
        guard sys.contains(root + "/cgroup.controllers") else { return [] }
        var groups: [ControlGroup] = []
        var open = [(path: "", level: 0)]
        while let (path, level) = open.popLast() {
            for name in sys.names(in: root + path, foldersAlone: true).sorted() where groups.count < most {
                let inner = "\(path)/\(name)"
                if isHolder(name) {
                    if level < mostLevels { open.append((inner, level + 1)) }
                } else if let usage = usage(sys, inner) {
                    groups.append(
                        ControlGroup(
                            path: String(inner.dropFirst()), usage: usage, container: container(inner),
                            memory: sys.number(root + inner + "/memory.current"),
                            limit: sys.number(root + inner + "/memory.max"),
                            tasks: sys.number(root + inner + "/pids.current")))
                }
            }
        }
        return groups.sorted { $0.path < $1.path }
    }

    /// Holders only arrange other groups: slices, the manager of a user, and what runtimes without systemd make.
    private static func isHolder(_ name: String) -> Bool {
        name.hasSuffix(".slice") || (name.hasPrefix("user@") && name.hasSuffix(".service"))
            || ["docker", "kubepods", "besteffort", "burstable"].contains(name) || name.hasPrefix("pod")
    }

    private static func usage(_ sys: SystemFolder, _ path: String) -> Int64? {
        var text = sys.text(root + path + "/cpu.stat")
        while var line = text?.line() {
            if line.word() == "usage_usec" { return line.number() }
        }
        return nil
    }

    /// The names that runtimes give to the groups of their containers.
    private static let patterns = [
        (runtime: "docker", before: "docker-", after: ".scope"), ("podman", "libpod-", ".scope"),
        ("containerd", "cri-containerd-", ".scope"), ("crio", "crio-", ".scope"),
        ("machine", "systemd-nspawn@", ".service"), ("machine", "machine-", ".scope"), ("lxc", "lxc.payload.", ""),
    ]

    private static func container(_ path: String) -> Container? {
        let parts = path.split(separator: "/")
        guard let last = parts.last else { return nil }
        if isIdentifier(last) {
            let isDocker = parts.count > 1 && parts[parts.count - 2] == "docker"
            return Container(runtime: isDocker ? "docker" : "container", name: String(last.prefix(12)))
        }
        for (runtime, before, after) in patterns
        where last.count > before.count + after.count && last.hasPrefix(before) && last.hasSuffix(after) {
            let name = last.dropFirst(before.count).dropLast(after.count)
            if isIdentifier(name) { return Container(runtime: runtime, name: String(name.prefix(12))) }
            if ["machine", "lxc"].contains(runtime) { return Container(runtime: runtime, name: unescaped(name)) }
        }
        return nil
    }

    /// Runtimes name containers by 64 digits. People use the first twelve.
    private static func isIdentifier(_ name: Substring) -> Bool {
        name.utf8.count == 64 && name.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }
    }

    /// systemd writes a dash inside a name as `\x2d`.
    static func unescaped(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The last part of the path, as `nginx` of `system.slice/nginx.service`.
    var id: String {
        if let container { return "\(container.runtime) \(container.name)" }
        let last = path.split(separator: "/").last ?? ""
        let stem = [".service", ".scope"].first(where: last.hasSuffix).map { last.dropLast($0.count) } ?? last
        return ControlGroup.unescaped(stem)
    }
}
