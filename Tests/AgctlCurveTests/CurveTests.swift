import AttributeValues
import CommandArguments
import Testing
import Timelines
@testable import agctl

@Suite("agctl curve")
struct CurveTests {
    /// What the verb prints for these arguments.
    private func output(_ arguments: [String], columns: Int? = nil) throws -> String {
        let command = try CurveCommand.read(arguments)
        return try command.text(of: command.trajectory(), columns: columns)
    }

    private func samples(_ arguments: [String]) throws -> [Value] {
        try #require(try JSONParser.parseOnce(try output(arguments).utf8).list).array
    }

    private func complaint(_ arguments: [String]) throws -> Complaint? {
        do { _ = try output(arguments) } catch let complaint as Complaint { return complaint }
        return nil
    }

    @Test("printed samples agree with 50-digit arithmetic, far beyond the end too", arguments: CurveReference.cases)
    func reference(_ reference: CurveReference) throws {
        let times = reference.samples.map { text17($0.time) }.joined(separator: ",")
        let printed = try samples(reference.arguments + ["--at", times])
        #expect(printed.count == reference.samples.count)
        for (got, want) in zip(printed, reference.samples) {
            let (value, velocity) = (
                try #require(got.map?["value"]?.number), try #require(got.map?["velocity"]?.number)
            )
            #expect(got.map?["t"]?.number == want.time)
            #expect(
                (value - want.value).magnitude <= 1e-13 * reference.scale,
                "value at \(want.time): \(value), not \(want.value)")
            #expect(
                (velocity - want.velocity).magnitude <= 1e-11 * reference.rate,
                "velocity at \(want.time): \(velocity), not \(want.velocity)")
        }
    }

    @Test("samples are an array with a line for each, in the order asked for, numbers with 17 digits")
    func form() throws {
        #expect(
            try output(["bouncy", "--json", "--at", "0.5,0,0.1"]) == """
                [
                {"t":0.5,"value":1.0144984216160449,"velocity":-0.21095081990544459},
                {"t":0,"value":0,"velocity":0},
                {"t":0.10000000000000001,"value":0.42330212307456971,"velocity":5.7075583376459775}
                ]

                """)
    }

    @Test("without times there are some fifty to a hundred at round intervals, until the motion is over")
    func grid() throws {
        for (text, end) in [
            ("bouncy", 0.8187467), ("linear(duration: 7)", 7), ("linear(duration: 250)", 250),
            ("spring(duration: 0.001)", 0.0014695),
        ] {
            let times = try samples([text, "--json"]).compactMap { $0.map?["t"]?.number }
            #expect((51...127).contains(times.count) && times.first == 0, "\(text): \(times.count)")
            #expect(
                times[times.count - 2] < end && times[times.count - 1] >= end * 0.999999, "\(text): \(times.suffix(2))")
        }
        #expect(try samples(["linear(duration: 7)", "--json"]).compactMap { $0.map?["t"]?.number }.contains(0.3))
        #expect(try samples(["easeIn(duration: 1).repeatForever()", "--json"]).count > 50)
        #expect(try samples(["linear(duration: 0)", "--json"]).count == 1)
    }

    @Test("on a terminal it is drawn, in a pipe sampled; a wish comes before both")
    func defaults() throws {
        #expect(try output(["bouncy"], columns: 80) == output(["bouncy", "--plot"]))
        #expect(try output(["bouncy"]) == output(["bouncy", "--json"]))
        #expect(try output(["bouncy", "--json"], columns: 80) == output(["bouncy", "--json"]))
        #expect(try output(["bouncy", "--at", "1"], columns: 80) == output(["bouncy", "--json", "--at", "1"]))
        #expect(try output(["bouncy", "--css", "--json"]) == output(["bouncy", "--css"]))
        let narrow = try output(["bouncy"], columns: 40).split(separator: "\n")
        #expect(narrow.count == 14 && narrow.allSatisfy { $0.count <= 40 })
    }

    @Test("the JSON form is read as the text form")
    func json() throws {
        let text = try output(["easeInOut(duration: 1).delay(0.2)", "--at", "0.5"])
        #expect(
            try output([#"{"curve": {"easeInOut": {"duration": 1}}, "modifiers": [{"delay": 0.2}]}"#, "--at", "0.5"])
                == text)
        #expect(try output([#""easeInOut(duration: 1).delay(0.2)""#, "--at", "0.5"]) == text)
        let change = try output([
            "linear", "--retarget", "at=0.1,to=2,curve=spring(duration: 1, bounce: 0.5),mode=chain", "--at", "0.5",
        ])
        #expect(
            try output([
                "linear", "--mode", "chain",
                "--retarget",
                #"at=0.1,to=2,curve={"curve": {"spring": {"duration": 1, "bounce": 0.5}}, "modifiers": []}"#, "--at",
                "0.5",
            ]) == change)
    }

    @Test("changes act in order of time, those at the same time in the order given")
    func order() throws {
        let first = ["--retarget", "at=0.1,to=2"]
        let second = ["--retarget", "at=0.2,to=-1,curve=bouncy"]
        #expect(try output(["bouncy", "--json"] + first + second) == output(["bouncy", "--json"] + second + first))
        #expect(
            try output(["bouncy", "--at", "9"] + ["--retarget", "at=1,to=2", "--retarget", "at=1,to=3,curve=linear"])
                == """
                [
                {"t":9,"value":3,"velocity":0}
                ]

                """)
    }

    @Test("a change after a spring has settled goes on from what is left of its motion")
    func lateChange() throws {
        let printed = try samples(["bouncy", "--retarget", "at=1,to=2,curve=linear", "--at", "0.99999999999999989,1"])
        let (before, after) = (
            try #require(printed[0].map?["value"]?.number), try #require(printed[1].map?["value"]?.number)
        )
        #expect(before != 1 && (before - after).magnitude < 1e-14)
    }

    @Test("negative numbers are numbers, not options")
    func negative() throws {
        #expect(
            try output(["linear(duration: 2)", "--from", "-4", "--to", "-2", "--at", "1"]) == """
                [
                {"t":1,"value":-3,"velocity":1}
                ]

                """)
        let moving = try samples(["smooth", "--velocity", "-3", "--at", "0"])
        #expect(moving[0].map?["velocity"]?.number == -3)
    }

    @Test("the easing of a motion through changes ends where the motion ends")
    func css() throws {
        let plain = try JSONParser.parseOnce(try output(["bouncy", "--css"]).utf8)
        #expect(plain.map?["duration"] == "818.747ms" && plain.map?["easing"]?.string?.hasPrefix("linear(0, ") == true)
        let changed = try JSONParser.parseOnce(
            try output(["bouncy", "--css", "--retarget", "at=0.1,to=2,curve=linear(duration: 0.9)"]).utf8)
        #expect(changed.map?["duration"] == "1000ms" && changed.map?["easing"]?.string?.hasSuffix(", 1)") == true)
        for arguments in [
            ["linear.repeatForever()", "--retarget", "at=9,to=1,curve=linear.repeatForever()"],
            ["bouncy", "--retarget", "at=0.1,to=0"], ["spring(duration: 1, bounce: 1)"],
        ] {
            #expect(try complaint(arguments + ["--css"])?.status == .data, "\(arguments)")
        }
    }

    @Test("unreadable input is reported with its place and the right form")
    func faults() throws {
        let unknown = try #require(try complaint(["bouncyy"]))
        #expect(
            unknown.status == .data && unknown.hint?.contains("did you mean 'bouncy'?") == true
                && unknown.rule?.column == 1)
        let argument = try #require(try complaint(["spring(duration: 0.5, bouce: 0.3)"]))
        #expect(argument.rule?.column == 23 && argument.hint?.contains("'bounce'") == true)
        for end in ["\n", "\r\n"] {
            let multiline = try #require(try complaint(["easeIn(duration: 1)\(end)  .dela(2)"]))
            #expect(
                multiline.rule?.line == 2 && multiline.rule?.column == 4 && multiline.hint?.contains("'delay'") == true)
        }
        let nested = try #require(try complaint(["linear", "--retarget", "at=1,to=2,curve=smoth"]))
        #expect(
            nested.rule?.text == "at=1,to=2,curve=smoth" && nested.rule?.column == 17
                && nested.hint?.contains("'smooth'") == true)
        let key = try #require(try complaint(["linear", "--retarget", "at=1, too=2"]))
        #expect(key.rule?.column == 7 && key.hint?.contains("'to='") == true)
        let mode = try #require(try complaint(["linear", "--retarget", "at=1,to=2,mode=é"]))
        #expect(mode.rule?.column == 16)
        let json = try #require(try complaint([#"{"curve": "bouncyy"}"#]))
        #expect(json.message.contains("(at /curve)"))
        #expect(try complaint(["{"])?.status == .data && complaint([""])?.status == .data)
    }

    @Test(
        "wrong usage is refused before anything is computed",
        arguments: [
            ["bouncy", "--plot", "--css"], ["bouncy", "--plot", "--json"], ["bouncy", "--svg", "x", "--plot"],
            ["bouncy", "--css", "--at", "1"],
            ["bouncy", "--at", "x"], ["bouncy", "--at", ""], ["bouncy", "--at", "1,,2"], ["bouncy", "--at=-1"],
            ["bouncy", "--at", "inf"],
            ["bouncy", "--from", "nan"], ["bouncy", "--to", "inf"], ["bouncy", "--mode", "jump"], [],
        ])
    func usage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try CurveCommand.read(arguments) }
    }

    @Test("the picture bears the motion's text")
    func svg() throws {
        let svg = try output(["bouncy", "--svg", "-", "--retarget", "at=0.1,to=2"])
        #expect(svg.hasPrefix("<svg ") && svg.contains("<title>bouncy; at=0.1,to=2</title>"))
    }
}
