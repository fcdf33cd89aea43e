import AttributeValues

extension Configuration {
    /// Reads `name = value` lines. Lines that begin with `#` are comments. Lines may end in CR LF, and a byte order
    /// mark is skipped.
    ///
    /// - Throws: all faults of the text, each with its line.
    public init(text: String, file: String) throws(ConfigurationFaults) {
        try self.init(text: text, file: file, .system)
    }

    init(text: String, file: String, _ accounts: Accounts) throws(ConfigurationFaults) {
        self.init()
        let faults = take(text: text, file: file, accounts)
        if !faults.isEmpty { throw ConfigurationFaults(faults: faults) }
    }

    /// Assigns all correct lines.
    /// - Returns: all faults of the text, each with its line.
    private mutating func take(text: String, file: String, _ accounts: Accounts) -> [ConfigurationFault] {
        let settings = Setting.table()
        var faults: [ConfigurationFault] = []
        var given: [String: Int] = [:]
        // Split by scalars: CR LF is one character, which differs from "\n".
        let scalars = text.unicodeScalars.drop { $0 == "\u{FEFF}" }
        for (index, raw) in scalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = Substring(raw).trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            func fault(_ message: String, _ hint: String? = nil) {
                faults.append(ConfigurationFault(file: file, line: index + 1, message: message, hint: hint))
            }
            guard let equals = line.firstIndex(of: "=") else {
                fault("expected name = value, found \"\(line.prefix(60))\"")
                continue
            }
            let name = line[..<equals].trimmed
            guard let setting = settings.first(where: { $0.name == name }) else {
                fault("unknown setting \"\(name)\"", NearestName.hint(name, among: settings.map(\.name)))
                continue
            }
            if let before = given[name], !setting.isRepeatable {
                fault("\(name) is set in line \(before) already")
                continue
            }
            given[name] = index + 1
            let value = line[line.index(after: equals)...].trimmed
            if value.isEmpty {
                fault("\(name) has no value")
                continue
            }
            do throws(Failure) {
                try setting.assign(value, to: &self, accounts)
                places[name, default: []].append("\(file):\(index + 1)")
            } catch { fault(error.message, error.hint) }
        }
        if server.outputMaximum < server.outputQueue {
            faults.append(
                ConfigurationFault(
                    file: file, line: given["output-maximum"] ?? given["output-queue"],
                    message: "output-maximum is smaller than output-queue"))
        }
        return faults
    }

    /// Reads the file, but not the files that it names.
    public init(file: String) throws(ConfigurationFaults) {
        let (configuration, faults) = Configuration.reading(file: file)
        if !faults.isEmpty { throw ConfigurationFaults(faults: faults) }
        self = configuration
    }

    /// The correct lines of the file, and all its faults, for callers that check further.
    public static func reading(file: String) -> (configuration: Configuration, faults: [ConfigurationFault]) {
        var configuration = Configuration()
        do {
            let faults = configuration.take(text: try TextFile.forStart(file), file: file, .system)
            return (configuration, faults)
        } catch { return (configuration, [ConfigurationFault(file: file, message: error.description)]) }
    }

    /// Adopts settings that may change while the daemon runs.
    /// - Returns: the names of changed settings that take effect at the next start.
    mutating func reload(from new: Configuration) -> [String] {
        var waiting: [String] = []
        for setting in Setting.table()
        where setting.valueText(in: self) != setting.valueText(in: new) && !setting.isReloadable {
            waiting.append(setting.name)
        }
        logLevel = new.logLevel
        server = new.server
        access = new.access
        return waiting
    }
}

extension Setting {
    var isRepeatable: Bool {
        switch kind {
        case .texts, .access: true
        default: false
        }
    }
}
