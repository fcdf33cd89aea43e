import Glibc

/// Where the socket stands when neither command line nor configuration says: the same order as in agctl.
enum SocketPath {
    static func standard(_ environment: ProcessEnvironment) -> String {
        if let named = named(environment) { return named }
        guard let runtimeDirectory = environment["XDG_RUNTIME_DIR"], runtimeDirectory.hasPrefix("/") else { return "/run/agd/agd.sock" }
        return runtimeDirectory + "/agd/agd.sock"
    }

    /// The one that the user has chosen.
    static func named(_ environment: ProcessEnvironment) -> String? {
        environment["AGD_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Makes the last directory of a socket's path, open to its owner and to those who may enter, if it is not there.
    static func makeDirectory(for path: String) throws(StartupError) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let directory = String(path[..<slash])
        if mkdir(directory, 0o755) != 0, errno != EEXIST {
            throw StartupError(.init(call: "mkdir", number: errno, subject: directory), otherwise: .cannotCreate)
        }
    }
}
