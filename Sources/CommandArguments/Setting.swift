import AttributeValues

/// A setting of a configuration file, which has lines `name = value`.
package struct Setting<Settings> {
    package let name: String
    /// True if it may be given several times.
    package let isRepeatable: Bool
    /// True if a change takes effect when the file is read again (SIGHUP).
    package var isReloadable = false
    /// Takes the value of a line.
    /// - Throws: `invalid` with the expected form.
    package let assign: (_ text: String, _ settings: inout Settings) throws(Failure) -> Void
    /// The value in the file's notation; nil if it is not set.
    package let text: (Settings) -> String?

    package init(
        _ name: String, isRepeatable: Bool = false, text: @escaping (Settings) -> String? = { _ in nil },
        assign: @escaping (_ text: String, _ settings: inout Settings) throws(Failure) -> Void
    ) {
        (self.name, self.isRepeatable, self.text, self.assign) = (name, isRepeatable, text, assign)
    }

    package init<Value>(_ name: String, _ place: WritableKeyPath<Settings, Value>, _ notation: Notation<Value>) {
        self.init(name, text: { notation.write($0[keyPath: place]) }) { (text, settings) throws(Failure) in
            settings[keyPath: place] = try notation.read(text, of: name)
        }
    }

    package init<Value>(_ name: String, _ place: WritableKeyPath<Settings, Value?>, _ notation: Notation<Value>) {
        self.init(name, text: { $0[keyPath: place].map(notation.write) }) { (text, settings) throws(Failure) in
            settings[keyPath: place] = try notation.read(text, of: name)
        }
    }

    /// A setting that may be given several times.
    package init<Value>(
        _ name: String, _ place: WritableKeyPath<Settings, [Value]>, write: @escaping (Value) -> String = { "\($0)" },
        read: @escaping (String) throws(Failure) -> Value
    ) {
        func text(_ settings: Settings) -> String? {
            let values = settings[keyPath: place]
            return values.isEmpty ? nil : values.map(write).joined(separator: ", ")
        }
        self.init(name, isRepeatable: true, text: text) { (text, settings) throws(Failure) in
            settings[keyPath: place].append(try read(text))
        }
    }
}

extension Setting {
    /// Assigns all correct lines of a text. Lines that begin with `#` are comments, and lines may end in CR LF.
    /// - Parameter didSet: gets the line of each assigned value, from 1.
    /// - Returns: all faults of the text, each with its line.
    package static func take(
        _ text: String, file: String, _ table: [Setting], into settings: inout Settings,
        didSet: (_ name: String, _ line: Int) -> Void = { _, _ in }
    ) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        var given: [String: Int] = [:]
        // Split by scalars: CR LF is one character, which differs from "\n".
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (line, number) in zip(lines.map { Substring($0).trimmed }, 1...) where !line.isEmpty && line.first != "#" {
            do throws(Failure) {
                guard let equals = line.firstIndex(of: "=") else {
                    throw Failure(.invalid, "expected name = value, found \"\(line.prefix(60))\"")
                }
                let name = line[..<equals].trimmed
                guard let setting = table.first(where: { $0.name == name }) else {
                    let hint = NearestName.hint(name, among: table.map(\.name))
                    throw Failure(.invalid, "unknown setting \"\(name)\"", hint: hint)
                }
                if let before = given[name], !setting.isRepeatable {
                    throw Failure(.invalid, "\(name) is set in line \(before) already")
                }
                given[name] = number
                let value = line[line.index(after: equals)...].trimmed
                if value.isEmpty { throw Failure(.invalid, "\(name) has no value") }
                try setting.assign(value, &settings)
                didSet(name, number)
            } catch {
                faults.append(ConfigurationFault(file: file, line: number, message: error.message, hint: error.hint))
            }
        }
        return faults
    }
}

public struct ConfigurationFault: Error, Equatable, CustomStringConvertible {
    public var file: String
    /// From 1; nil if the fault concerns the file as a whole.
    public var line: Int?
    public var message: String
    public var hint: String?

    package init(file: String, line: Int? = nil, message: String, hint: String? = nil) {
        (self.file, self.line, self.message, self.hint) = (file, line, message, hint)
    }

    public var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": \(message)" + (hint.map { " (\($0))" } ?? "")
    }
}

public struct ConfigurationFaults: Error, Equatable, CustomStringConvertible {
    public var faults: [ConfigurationFault]

    package init(_ faults: [ConfigurationFault]) { self.faults = faults }

    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
