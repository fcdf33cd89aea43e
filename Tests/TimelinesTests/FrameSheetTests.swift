import AttributeValues
import TestSupport
import Testing
@testable import Timelines

@Suite("The frame sheet")
struct FrameSheetTests {
    private func written(_ sheet: inout FrameSheet, at time: Double) throws -> ValueMap {
        let buffer = ByteBuffer()
        buffer.append(UInt8(ascii: "{"))
        sheet.write(at: time, into: buffer)
        buffer.append(UInt8(ascii: "}"))
        return try #require(try JSONParser.parseOnce(Array(buffer.text.utf8)).map, "\(buffer.text)")
    }

    @Test("numbers are written to a trillionth of their distance, through replacements and removals")
    func numbers() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        let animations = try [
            "bouncy", "smooth", "easeInOut(duration: 1)", "linear.delay(0.2)", "spring(duration: 1, bounce: 0.8)",
        ].map { try Animation($0) }
        var sheet = FrameSheet()
        var running: [FrameSheet.Line: (name: String, timeline: Timeline)] = [:]
        var time = 0.0
        for frame in 0..<600 {
            while running.count < 40 {
                let size = random.pick([1e-9, 1e-3, 1, 50, 1e6, 1e14])
                let timeline = Timeline(
                    from: Components(random.real(-size...size)), to: Components(random.real(-size...size)),
                    velocity: Components(random.real(-size...size)), animation: random.pick(animations), start: time)
                let name = "/n\(frame).\"\(running.count)"
                running[sheet.insert(timeline, name: name)] = (name, timeline)
            }
            time += random.real(0.001...0.05)
            let members = try written(&sheet, at: time)
            #expect(members.count == running.count, "seed \(seed), frame \(frame)")
            for (name, timeline) in running.values {
                let number = try #require(members[name]?.number, "seed \(seed), frame \(frame)")
                let distance = (timeline.to.first - timeline.from.first).magnitude
                let rounding =
                    1e-15 * max(number.magnitude, timeline.to.first.magnitude, timeline.velocity.first.magnitude)
                let bound = timeline.isFinished(at: time) ? 0 : distance * 1e-12 + rounding * 8
                #expect(
                    (number - timeline.firstComponent(at: time)).magnitude <= bound,
                    "seed \(seed), frame \(frame): \(number)")
            }
            #expect(
                Set(sheet.finished) == Set(running.filter { $0.value.timeline.isFinished(at: time) }.keys),
                "seed \(seed), frame \(frame)")
            for line in sheet.finished { running[line] = nil }
            #expect(sheet.count == running.count)
            let lines = running.keys.sorted()
            if frame % 5 == 0, let line = lines.first, let known = running[line] {
                let next = known.timeline.retarget(
                    to: Components(random.real(-1...1)), animation: random.pick(animations), at: time)
                sheet.replace(line, with: next)
                running[line] = (known.name, next)
            }
            if frame % 7 == 0, let line = lines.last {
                sheet.remove(line)
                running[line] = nil
            }
        }
    }

    @Test("every other kind of value is written as it is displayed")
    func kinds() throws {
        let changes: [(Value, Value)] = [
            (.int(0), .int(100)), (.uint(7), .uint(3)),
            (.duration(TimeSpan(nanoseconds: 0)), .duration(TimeSpan(nanoseconds: 5_000_000_000))),
            (
                .map(ValueMap([(.string("x"), .double(0)), (.string("y"), .double(4))])),
                .map(ValueMap([(.string("x"), .double(1)), (.string("y"), .double(2))]))
            ),
        ]
        var sheet = FrameSheet()
        var timelines: [Timeline] = []
        for (i, change) in changes.enumerated() {
            let timeline = try #require(Timeline(changing: change.0, to: change.1, animation: .easeInOut, start: 0))
            _ = sheet.insert(timeline, name: "\(i)")
            timelines.append(timeline)
        }
        for time in [0.1, 0.2, 0.4] {
            let members = try written(&sheet, at: time)
            for (i, timeline) in timelines.enumerated() {
                #expect(
                    members["\(i)"]?.jsonText
                        == (try JSONParser.parseOnce(Array(timeline.displayed(at: time).jsonText.utf8))).jsonText)
            }
        }
        #expect(sheet.count == 0 && sheet.finished.count == changes.count)
        #expect(try written(&sheet, at: 0.5).count == 0 && sheet.finished.isEmpty)
    }

    @Test(
        "decimals are written without trailing zeros, and stay doubles",
        arguments: [
            (0.5, 1, "0.5"), (-0.25, 1, "-0.25"), (3, 1, "3.0"), (-1e-14, 1, "0.0"), (0.001, 1, "0.001"),
            (1.000001, 1, "1.000001"), (1e-12, 1, "0.000000000001"),
            (1.0 / 3, 1, "0.333333333333"), (1.0 / 3, 1000, "0.333333333"), (12345.678, 1e15, "12346.0"),
            (0.1, 1e-6, "0.1"), (7.5e11, 1e9, "750000000000.0"),
            (1e17, 1, "1e+17"),
        ] as [(Double, Double, String)])
    func decimals(number: Double, distance: Double, text: String) throws {
        let buffer = ByteBuffer()
        buffer.append(number, try #require(DecimalPrecision(distance: distance)))
        #expect(buffer.text == text)
    }

    @Test("names are kept through thousands of comings and goings, and each line knows its place in what was written")
    func places() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        var sheet = FrameSheet()
        var names: [FrameSheet.Line: String] = [:]
        for round in 0..<300 {
            for i in 0..<Int.random(in: 0...30, using: &random) {
                let name = "/a long enough name to fill the memory of names/\(round)/\(i)"
                names[sheet.insert(Timeline(from: 0, to: 1, animation: .smooth, start: 0), name: name)] = name
            }
            for line in names.keys.sorted() where Int.random(in: 0..<3, using: &random) == 0 {
                sheet.remove(line)
                names[line] = nil
            }
            let buffer = ByteBuffer()
            sheet.write(at: 0.1, into: buffer)
            let text = Array(buffer.text.utf8)
            for (line, name) in names {
                let member = String(decoding: text[sheet.writtenRange(of: line)], as: UTF8.self)
                #expect(member.hasPrefix("\"\(name)\":0."), "seed \(seed), round \(round): \(member)")
            }
            #expect(try written(&sheet, at: 0.1).count == names.count)
        }
    }

    @Test("decimals are those of the exact digits, for every number of them")
    func randomDecimals() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let precision = try #require(
                DecimalPrecision(distance: random.pick([1e-6, 1e-4, 0.01, 1, 30, 1e5, 1e9, 1e13])))
            let digits = UInt64.random(in: 0..<(1 << UInt64.random(in: 1...53, using: &random)), using: &random)
            let number = (Bool.random(using: &random) ? -1 : 1) * Double(digits) / precision.scale
            guard UInt64((number.magnitude * precision.scale).rounded()) == digits else { continue }
            let buffer = ByteBuffer()
            buffer.append(number, precision)
            var text = String(digits)
            if text.utf8.count <= precision.decimals {
                text = String(repeating: "0", count: precision.decimals + 1 - text.utf8.count) + text
            }
            var fraction = text.suffix(precision.decimals)
            while fraction.last == "0" { fraction.removeLast() }
            let sign = number < 0 && digits > 0 ? "-" : ""
            #expect(
                buffer.text == "\(sign)\(text.dropLast(precision.decimals)).\(fraction.isEmpty ? "0" : fraction)",
                "seed \(seed): \(number)")
        }
    }

    @Test("distances beyond decimals are left to the shortest exact text")
    func noDecimals() {
        for distance in [0, 1e-7, 1e-300, .infinity, .nan] {
            #expect(DecimalPrecision(distance: distance) == nil, "\(distance)")
        }
    }
}
