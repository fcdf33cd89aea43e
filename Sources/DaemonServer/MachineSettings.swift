import AttributeValues
import Glibc

/// The machine's language and time settings: the initial values of the environment keys `locale`, `timeZone` and
/// `calendar`.
struct MachineSettings {
    private let environment: ProcessEnvironment
    /// The folder that contains `etc` and `usr`.
    private let root: String

    init(_ environment: ProcessEnvironment, root: String = "") {
        self.environment = environment
        self.root = root
    }

    /// Values by key, without those that the machine does not set.
    var values: [String: Value] {
        var values: [String: Value] = [:]
        if let locale {
            values["locale"] = .string(locale)
            values["calendar"] = .string(MachineSettings.calendar(of: locale))
        }
        if let timeZone { values["timeZone"] = .string(timeZone) }
        return values
    }

    /// `LC_ALL` or `LANG`, without encoding: `de_DE`. `C` and `POSIX` are not languages.
    private var locale: String? {
        guard let text = ["LC_ALL", "LANG"].lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else {
            return nil
        }
        let name = text.prefix { $0 != "." && $0 != "@" }
        guard !name.isEmpty, name != "C", name != "POSIX", name.utf8.count < 32,
            name.allSatisfy({ $0.isLetter || $0 == "_" })
        else { return nil }
        return String(name)
    }

    /// The calendar that the Unicode CLDR prefers for a locale.
    private static func calendar(of locale: String) -> String {
        if locale.hasPrefix("th") { return "buddhist" }
        return locale == "fa_IR" || locale == "fa_AF" ? "persian" : "gregorian"
    }

    /// `TZ`, or else the target of `/etc/localtime`; only names that the system knows.
    private var timeZone: String? {
        guard var name = environment["TZ"].map({ $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }) ?? linkedZone else {
            return nil
        }
        if let end = name.ranges(of: "zoneinfo/").last?.upperBound { name = String(name[end...]) }
        if ["", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"].contains(name) {
            return "UTC"
        }
        let isPlain = !name.contains("..") && !name.hasPrefix("/")
        return isPlain && access("\(root)/usr/share/zoneinfo/\(name)", R_OK) == 0 ? name : nil
    }

    private var linkedZone: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("\(root)/etc/localtime", &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
