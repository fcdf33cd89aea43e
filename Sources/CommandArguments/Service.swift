import AttributeValues
import Glibc

/// A program that runs for long, and that a configuration file describes.
extension Verb {
    /// Ends the program with a message. The status is one of sysexits.h.
    package static func end(_ message: String, _ status: Int32) -> Never {
        Log.write("\(help.name): \(message)", .error)
        exit(status)
    }

    /// - Parameter read: makes the settings of a text, which the file with this path has.
    package static func readConfiguration<Settings>(
        _ path: String, _ read: (_ text: String, _ file: String) throws(ConfigurationFaults) -> Settings
    ) -> Settings {
        let text: String
        do throws(TextFile.Fault) { text = try TextFile.read(path) } catch {
            switch error {
            case .system(_, let number): end("cannot read \(path): \(String(cString: strerror(number)))", 78)
            case .encoding(let fault): end(fault.described(in: path), 78)
            }
        }
        do throws(ConfigurationFaults) { return try read(text, path) } catch { end("\(error)", 78) }
    }

    /// Warns of files with a password or a key that everybody can read.
    package static func warnOfOpenSecrets(_ secrets: [(what: String, path: String)]) {
        for (what, file) in secrets {
            var status = stat()
            guard stat(file, &status) == 0, status.st_mode & S_IROTH != 0 else { continue }
            Log.write("\(help.name): everybody can read \(file), which has \(what): chmod o= \(file)", .warning)
        }
    }
}
