import AttributeValues
import Testing

@testable import agd_bridge

@Suite("Samples of exporters")
struct SeriesTests {
    private func samples(_ text: String) throws -> [(String, Double)] {
        var samples: [(String, Double)] = []
        try Array(text.utf8).withUnsafeBufferPointer { bytes throws(Failure) in
            try Exposition.forEachSample(bytes) { series, value in
                samples.append((String(decoding: series, as: UTF8.self), value))
            }
        }
        return samples
    }

    private func take(_ text: String, into table: inout SeriesTable) throws {
        try Array(text.utf8).withUnsafeBufferPointer { bytes throws(Failure) in try table.take(bytes) }
    }

    @Test("names, labels with any characters, time stamps, exemplars and numbers of all forms are read")
    func format() throws {
        let text = #"""
            # HELP up Whether it is up.
            # TYPE up gauge
            up 1
              spaced{a="b c"}   2.5  1395066363000
            http{path="/x}\"{",code="200",} 3e2
            {"my.name",x="ä"} -4

            bucket{le="+Inf"} +Inf # {trace="5"} 1
            nothing NaN
            crlf 5
            # EOF
            """#.replacing("crlf 5", with: "crlf 5\r")
        let read = try samples(text)
        #expect(
            read.map(\.0) == [
                "up", #"spaced{a="b c"}"#, #"http{path="/x}\"{",code="200",}"#, #"{"my.name",x="ä"}"#,
                #"bucket{le="+Inf"}"#, "nothing", "crlf",
            ])
        #expect(read.prefix(5).map(\.1) == [1, 2.5, 300, -4, .infinity])
        #expect(read[5].1.isNaN)
        #expect(read[6].1 == 5)
    }

    @Test("a line that is no sample is named", arguments: ["up", "up x", "up{a=\"b\" 1", "up 1x", "{} ", "up 0x"])
    func faults(_ line: String) {
        #expect(throws: Failure(.invalid, "line 2 is no sample of Prometheus' text format")) {
            try samples("good 1\n\(line)\n")
        }
    }

    @Test("the daemon is told of values that differ, in any order, and of series that have gone")
    func changes() throws {
        var table = SeriesTable(limit: 10)
        try take("a 1\nb 2\nc 3\n", into: &table)
        #expect(Value.map(table.takeChanges(isWhole: false)) == ["a": 1.0, "b": 2.0, "c": 3.0])
        try take("a 1\nb 5\nc 3\n", into: &table)
        #expect(Value.map(table.takeChanges(isWhole: false)) == ["b": 5.0])
        try take("c 4\nd 6\na 1\n", into: &table)
        #expect(Value.map(table.takeChanges(isWhole: false)) == ["b": .null, "c": 4.0, "d": 6.0])
        try take("a 1\nc 4\nd NaN\n", into: &table)
        #expect(Value.map(table.takeChanges(isWhole: true)) == ["a": 1.0, "c": 4.0, "d": .null])
        table.forgetSent()
        #expect(Value.map(table.takeChanges(isWhole: false)) == ["a": 1.0, "c": 4.0])
    }

    @Test("changes of several scrapes are told at once")
    func coalesced() throws {
        var table = SeriesTable(limit: 10)
        try take("a 1\nb 1\n", into: &table)
        _ = table.takeChanges(isWhole: false)
        try take("a 2\n", into: &table)
        try take("a 1\nc 1\n", into: &table)
        #expect(Value.map(table.takeChanges(isWhole: false)) == ["b": .null, "c": 1.0])
    }

    @Test("more series than the limit are refused")
    func limit() throws {
        var table = SeriesTable(limit: 2)
        #expect(throws: Failure.self) { try take("a 1\nb 1\nc 1\n", into: &table) }
    }
}
