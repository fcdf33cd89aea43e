import AttributeValues
import CommandArguments
import EventLoop
import GraphRuntime

extension Configuration {
    /// Reads `name = value` lines. Lines that begin with `#` are comments.
    /// - Throws: all faults of the text, each with its line.
    init(text: String, file: String, _ accounts: Accounts = .system) throws(ConfigurationFaults) {
        self.init()
        let faults = take(text: text, file: file, accounts)
        if !faults.isEmpty { throw ConfigurationFaults(faults) }
    }

    /// Assigns all correct lines.
    /// - Returns: all faults of the text, each with its line.
    private mutating func take(text: String, file: String, _ accounts: Accounts = .system) -> [ConfigurationFault] {
        var lines: [String: [Int]] = [:]
        var faults = Setting.take(text, file: file, Setting.table(accounts), into: &self) { name, line in
            lines[name, default: []].append(line)
        }
        positions = lines.mapValues { $0.map { "\(file):\($0)" } }
        if access.count > AccessRules.maximumCount {
            let message = "there are more than \(AccessRules.maximumCount) access lines"
            faults.append(ConfigurationFault(file: file, line: lines["access"]?.last, message: message))
        }
        if server.outputMaximum < server.outputQueue {
            let line = (lines["output-maximum"] ?? lines["output-queue"])?.last
            let message = "output-maximum is smaller than output-queue"
            faults.append(ConfigurationFault(file: file, line: line, message: message))
        }
        return faults
    }

    /// Reads the file, but not the files that it names.
    public init(file: String) throws(ConfigurationFaults) {
        let (configuration, faults) = Configuration.reading(file: file)
        if !faults.isEmpty { throw ConfigurationFaults(faults) }
        self = configuration
    }

    /// The correct lines of the file, and all its faults, for callers that check further.
    public static func reading(file: String) -> (configuration: Configuration, faults: [ConfigurationFault]) {
        var configuration = Configuration()
        do throws(TextFile.Fault) {
            let faults = configuration.take(text: try TextFile.read(file), file: file)
            return (configuration, faults)
        } catch {
            let fault =
                switch error {
                case .system(let call, let number):
                    ConfigurationFault(file: file, message: "\(LoopError(call: call, number: number))")
                case .encoding(let fault):
                    ConfigurationFault(file: "\(file):\(fault.line):\(fault.column)", message: "not UTF-8")
                }
            return (configuration, [fault])
        }
    }

    /// Adopts settings that may change while the daemon runs.
    /// - Returns: the names of changed settings that take effect at the next start.
    mutating func reload(from new: Configuration) -> [String] {
        let waiting = Setting.table().filter { !$0.isReloadable && $0.text(self) != $0.text(new) }
        logLevel = new.logLevel
        server = new.server
        access = new.access
        return waiting.map(\.name)
    }
}
