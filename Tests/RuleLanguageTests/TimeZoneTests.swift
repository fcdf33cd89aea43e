import AttributeValues
import TestSupport
import Testing

@testable import RuleLanguage

@Suite("Time zones of the system")
struct TimeZoneTests {
    @Test(
        "the offset is that of the zone at the instant: by its table, and behind that by its rule",
        arguments: [
            ("Europe/Berlin", "2024-01-15T12:00:00Z", 3600), ("Europe/Berlin", "2024-07-15T12:00:00Z", 7200),
            ("Europe/Berlin", "2024-03-31T00:59:59Z", 3600), ("Europe/Berlin", "2024-03-31T01:00:00Z", 7200),
            ("Europe/Berlin", "2150-07-15T12:00:00Z", 7200), ("Europe/Berlin", "2150-12-15T12:00:00Z", 3600),
            ("America/New_York", "2100-07-04T12:00:00Z", -14400), ("Asia/Kolkata", "2024-07-15T12:00:00Z", 19800),
            ("Australia/Sydney", "2100-01-15T12:00:00Z", 39600), ("Pacific/Kiritimati", "2024-01-01T00:00:00Z", 50400),
            ("UTC", "2024-01-01T00:00:00Z", 0), ("-02:30", "2024-01-01T00:00:00Z", -9000),
            ("02:00", "2024-01-01T00:00:00Z", 7200),
        ] as [(String, String, Int)])
    func offsets(zone: String, instant: String, offset: Int) throws {
        guard TimeZoneFile.find("Europe/Berlin") != nil else {
            print("\(TimeZoneFile.directory) is absent: time zones are not tested")
            return
        }
        let time = try #require(Timestamp(instant))
        let local = CivilTime(time, offset: offset)
        let scope = RuleScope()
        scope.declare("t", RuleType.timestamp)
        let content = Evaluator().evaluate(
            try Rule.compile("[t.getDate('\(zone)'), t.getHours('\(zone)'), t.getMinutes('\(zone)')]", in: scope),
            bindings: bindings(["t": .timestamp(time)]))
        #expect(content == .value(.list([local.day, local.hour, local.minute].map { .int(Int64($0)) })))
    }

    @Test(
        "a name is looked for below the database's folder alone",
        arguments: ["../../../etc/passwd", "/etc/passwd", "", "Europe", "Nowhere/Land"])
    func names(name: String) { #expect(TimeZoneFile.find(name) == nil) }

    @Test("a damaged file is no zone, wherever it is cut or changed")
    func damage() throws {
        guard let whole = SharedData.read(TimeZoneFile.directory + "/Europe/Berlin") else { return }
        for length in stride(from: 0, to: whole.count, by: 7) {
            let cut = TimeZoneFile(Array(whole[..<length]))
            _ = cut?.offset(at: 1_700_000_000)
            if length < 44 { #expect(cut == nil) }
        }
        var random = SeededGenerator(seed: freshSeed())
        for _ in 0..<500 {
            var changed = whole
            for _ in 0..<8 {
                changed[Int(random.next() % UInt64(changed.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            for time: Int64 in [-1 << 40, 0, 1 << 40] { _ = TimeZoneFile(changed)?.offset(at: time) }
        }
        #expect(TimeZoneFile(whole)?.offset(at: 1_700_000_000) == 3600)
    }
}
