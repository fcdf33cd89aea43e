import AttributeValues
import Glibc
import RuleLanguage

/// The machine's language and time settings: the initial values of the environment keys `locale`, `timeZone` and
/// `calendar`.
struct MachineSettings {
    /// Values by key, without those that the machine does not set.
    private(set) var values: [String: Value] = [:]
    /// The settings that agd does not understand, one line each.
    private(set) var warnings: [String] = []
    private let environment: ProcessEnvironment
    /// The folder that contains `etc` and `usr`.
    private let root: String

    init(_ environment: ProcessEnvironment, root: String = "") {
        self.environment = environment
        self.root = root
        if let locale {
            values["locale"] = .string(locale)
            values["calendar"] = .string(MachineSettings.calendar(of: locale))
        }
        if let timeZone = environment["TZ"] {
            take([timeZone.hasPrefix(":") ? String(timeZone.dropFirst()) : timeZone], from: "TZ")
        } else {
            take(
                [linkedZone, access(localtime, R_OK) == 0 ? localtime : nil].compactMap { $0 }, from: "/etc/localtime")
        }
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

    /// Takes the first of these zones that is understood: a name that the system knows, a file, or a POSIX rule.
    private mutating func take(_ zones: [String], from source: String) {
        guard let zone = zones.first else { return }
        guard let name = zones.compactMap({ name(ofZone: $0) }).first else {
            return warnings.append(
                "\(source): agd does not understand the time zone '\(zone)' and uses UTC; give a name as Europe/Berlin, "
                    + "or a rule as CET-1CEST,M3.5.0,M10.5.0/3")
        }
        values["timeZone"] = .string(name)
    }

    private func name(ofZone zone: String) -> String? {
        let name = zone.ranges(of: "zoneinfo/").last.map { String(zone[$0.upperBound...]) } ?? zone
        if ["", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"].contains(name) {
            return "UTC"
        }
        let isPlain = !name.contains("..") && !name.hasPrefix("/")
        if isPlain, access("\(root)/usr/share/zoneinfo/\(name)", R_OK) == 0 { return name }
        let rule = zone.hasPrefix("/") ? MachineSettings.rule(ofFile: zone) : zone
        return rule.flatMap { TimeZoneRule.zoneName(posix: $0) }
    }

    /// A file that is not in the system's database has no name, but a rule for the future.
    private static func rule(ofFile path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        let count = fread(&bytes, 1, bytes.count, file)
        return TimeZoneRule.posixText(ofFile: Array(bytes[..<count]))
    }

    private var localtime: String { "\(root)/etc/localtime" }

    private var linkedZone: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(localtime, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
