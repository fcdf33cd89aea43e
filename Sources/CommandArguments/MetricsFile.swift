import Glibc

/// A file with a program's metrics in the text format of Prometheus, which node_exporter reads.
package enum MetricsFile {
    /// Seconds between two versions of the file.
    package static let interval = 5.0

    /// The name of a case in snake case, behind the name of the program.
    package static func name(_ metric: some Any, of program: String) -> String {
        "\(program)_" + "\(metric)".reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    /// The comments of a metric: its help, and its type.
    package static func head(_ name: String, _ help: String) -> String {
        "# HELP \(name) \(help)\n# TYPE \(name) \(name.hasSuffix("_total") ? "counter" : "gauge")\n"
    }

    package static func line(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) -> String {
        let labels = labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
        let number = value == value.rounded() ? "\(Int64(value))" : "\(value)"
        return "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number)\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// Replaces the file at once, so that nobody reads a part of it.
    /// - Returns: the errno if it failed.
    package static func write(_ text: String, to path: String) -> Int32? {
        let new = path + ".new"
        guard let file = fopen(new, "we") else { return errno }
        let isWritten = fputs(text, file) >= 0
        let code = errno
        guard fclose(file) == 0 else { return errno }
        guard isWritten else { return code }
        return rename(new, path) == 0 ? nil : errno
    }
}
