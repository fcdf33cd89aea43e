import Glibc
import WireProtocol

/// The socket's path if neither the command line nor the configuration gives one: the first that clients try.
enum SocketPath {
    static func standard(_ environment: ProcessEnvironment) -> String {
        SocketPlaces.named { environment[$0] } ?? SocketPlaces.standard { environment[$0] }[0]
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
