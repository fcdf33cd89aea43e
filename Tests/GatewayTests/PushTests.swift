import AttributeValues
import Testing

@testable import GatewayHandlers

@Suite("Points in InfluxDB's line protocol")
struct PushTests {
    private func entries(_ text: String, limit: Int = 100) throws -> Value {
        .map(try LineProtocol.entries(of: Array(text.utf8), limit: limit))
    }

    @Test("a series with its tags is an entry, and its fields are the parts, with their types") func points() throws {
        let text = #"""
            # a comment
            cpu,cpu=cpu0,host=a usage=95.5,count=3i,big=18446744073709551615u,isUp=t,no=FALSE 1700000000000000000

            disk\ io,path=C:\\\,x value=-1e3
            log text="a \"b\", c=d\\ e
            second line",n=1 -5
            cpu,cpu=cpu0,host=a extra="ä"
            """#
        #expect(
            try entries(text) == [
                "cpu,cpu=cpu0,host=a": [
                    "usage": 95.5, "count": 3, "big": .uint(.max), "isUp": true, "no": false, "extra": "ä",
                ],
                #"disk\ io,path=C:\\\,x"#: ["value": -1000.0],
                "log": ["text": "a \"b\", c=d\\ e\nsecond line", "n": 1.0],
            ])
        #expect(try entries("a x=1\r\nb y=2\r\n") == ["a": ["x": 1.0], "b": ["y": 2.0]])
        #expect(try entries("") == [:])
    }

    @Test(
        "a line that is no point is named, and nothing of the body counts",
        arguments: [
            "cpu", "cpu ", "cpu x", "cpu x=", "cpu x=abc", "cpu x=1 soon", "cpu x=\"open", "cpu =1", ",a=b x=1",
            "cpu x=1,",
            "cpu x=nan", "cpu x=0x10",
        ])
    func faults(_ line: String) throws {
        do {
            _ = try entries("good x=1\n\(line)\n")
            Issue.record("accepted")
        } catch let failure as Failure {
            #expect(failure.code == .invalid && failure.message.hasPrefix("line 2") || line.contains("open"))
        }
    }

    @Test("more fields than the limit are refused") func limit() {
        #expect(throws: Failure.self) { try entries("a x=1,y=2\nb z=3", limit: 2) }
    }

    @Test("gzip is unpacked up to a limit, and what is none or is cut off is refused") func gzip() throws {
        let bytes = [UInt8](repeating: 65, count: 300_000)
        let packed = Gzip.whole(bytes, .fast)
        #expect(try Gunzip.whole(packed, limit: 300_000) == bytes)
        #expect(throws: Failure.self) { try Gunzip.whole(packed, limit: 299_999) }
        #expect(throws: Failure.self) { try Gunzip.whole(Array(packed.dropLast(9)), limit: 300_000) }
        #expect(throws: Failure.self) { try Gunzip.whole([1, 2, 3], limit: 300_000) }
        #expect(throws: Failure.self) { try Gunzip.whole([], limit: 300_000) }
    }

    @Test("numbers, bools, texts, infinities and panels are metrics") func metrics() {
        func value(_ value: Value) -> Value { ["value": value] }
        let values = ValueMap([
            (.string("/a.on"), value(true)), (.string("/a.x"), value(.double(.infinity))), (.string("/a.y"), value(-2)),
            (.string("/a.text"), value("say \"x\"\n")), (.string("/a.list"), value([1])),
            (.string("/a.fault"), ["error": Value.null] as Value), (.string("/a.far"), value("-Infinity")),
        ])
        let text = Meter.attributes(values)
        #expect(text.contains("agd_attribute{path=\"/a.on\"} 1\n"))
        #expect(text.contains("agd_attribute{path=\"/a.x\"} +Inf\n"))
        #expect(text.contains("agd_attribute{path=\"/a.far\"} -Inf\n"))
        #expect(text.contains("agd_attribute{path=\"/a.y\"} -2\n"))
        #expect(text.contains("agd_attribute_text_info{path=\"/a.text\",value=\"say \\\"x\\\"\\n\"} 1\n"))
        #expect(!text.contains("/a.list") && !text.contains("/a.fault"))
        let board: Value = [
            "rows": [
                [
                    "cards": [
                        ["path": "/a.y", "title": "Y", "panel": ["unit": "%"]],
                        ["path": "/b.z", "title": "Z", "panel": [:]],
                    ]
                ]
            ]
        ]
        #expect(
            Meter.panels(values, board).hasSuffix(
                "\nagd_attribute_panel_info{path=\"/a.y\",title=\"Y\",unit=\"%\"} 1\n"))
        #expect(Meter.panels(values, nil).isEmpty)
        #expect(Meter.commonNode(["/host/**", "/host/cpu.percent"]) == "/host")
        #expect(Meter.commonNode(["/a.x", "/b.x"]) == "/")
        #expect(Meter.commonNode(["nonsense"]) == "/")
    }
}
