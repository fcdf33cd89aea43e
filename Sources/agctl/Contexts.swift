import AGClient
import AttributeValues
import Glibc

/// Names for the sockets of several daemons, from files with lines `name = socket`.
struct Contexts {
    struct Entry {
        var name: String
        var socket: String
        var file: String
    }

    static let environmentVariable = "AGD_CONTEXT"

    /// The files, the user's own first. A name in an earlier file takes precedence.
    static func files(_ environment: (String) -> String?) -> [String] {
        var files: [String] = []
        if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            files.append(folder + "/agd/contexts")
        } else if let home = environment("HOME"), home.hasPrefix("/") {
            files.append(home + "/.config/agd/contexts")
        }
        return files + ["/etc/agd/contexts"]
    }

    private(set) var entries: [Entry] = []
    private let files: [String]

    /// Reads the files that exist.
    /// - Throws: `data` for a faulty line, `inputOutput`.
    init(environment: (String) -> String? = Contexts.variable) throws(Complaint) {
        files = Contexts.files(environment)
        for file in files where access(file, F_OK) == 0 { try read(InputText.read(file), of: file) }
    }

    init(text: String, of file: String) throws(Complaint) {
        files = [file]
        try read(text, of: file)
    }

    private mutating func read(_ text: String, of file: String) throws(Complaint) {
        for (position, line) in text.lines.enumerated() {
            let line = Substring(line).trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
            guard parts.count == 2, !parts[0].isEmpty, parts[1].hasPrefix("/") else {
                throw Complaint(
                    .data, "\(file):\(position + 1): not a context: \(line.prefix(60))",
                    hint: "each line is NAME = SOCKET, as in: web-01 = /run/web-01/agd.sock")
            }
            if !entries.contains(where: { $0.name == parts[0] }) {
                entries.append(Entry(name: parts[0], socket: parts[1], file: file))
            }
        }
    }

    func socket(of name: String) throws(Complaint) -> String {
        if let entry = entries.first(where: { $0.name == name }) { return entry.socket }
        throw Complaint(
            .notFound, "there is no context '\(name)'",
            hint: NearestName.hint(name, among: entries.map(\.name))
                ?? "contexts are lines NAME = SOCKET in \(files.joined(separator: " or "))")
    }

    /// The folder for temporary files.
    static var temporaryFolder: String { variable("TMPDIR") ?? "/tmp" }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The daemon of a command. An option takes precedence over a variable, and a socket over a context.
    static func location(socket: String?, context: String?) throws(Complaint) -> SocketLocation {
        if let socket { return SocketLocation(path: socket) }
        if let context { return SocketLocation(path: try Contexts().socket(of: context)) }
        let found = SocketLocation.find()
        // Only a location that was searched for can be replaced: AGD_SOCKET names one.
        guard !found.searched.isEmpty, let context = variable(environmentVariable) else { return found }
        return SocketLocation(path: try Contexts().socket(of: context))
    }
}
