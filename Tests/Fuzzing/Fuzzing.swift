import AttributeValues
import GatewayHandlers
import GatewayHarness
import GraphRuntime
import LinkProtocol
import RuleCases
import RuleLanguage
import StateStore
import Timelines
import WireProtocol

/// One entry for each reader of bytes from outside. It must return for any bytes. A value that it reads, and writes and
/// reads again, must be the same.
public enum Fuzzing {
    public typealias Entry = @Sendable ([UInt8]) -> Void

    public static let entries: [String: Entry] = [
        "lines": lines, "json": json, "paths": paths, "scenes": scenes, "rules": rules, "timelines": timelines,
        "rows": rows, "targets": targets, "bodies": bodies, "messages": messages,
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Lines of the protocol, as a session cuts them.
    @Sendable private static func lines(_ bytes: [UInt8]) {
        let decoder = RequestDecoder(maximumDepth: 64, maximumBatch: 16, maximumValues: 10_000)
        for line in bytes.split(separator: 0x0a) {
            Array(line).withUnsafeBufferPointer { line in
                for isPadded in [false, true] {
                    // The bytes behind the line are read, and have no influence.
                    var padded = Array(line)
                    if isPadded { padded += [UInt8](repeating: 0x5b, count: JSONParser.padding) }
                    padded.withUnsafeBufferPointer {
                        decoder.decode(UnsafeBufferPointer(rebasing: $0[..<line.count]), isPadded: isPadded) { _ in }
                    }
                }
            }
        }
    }

    @Sendable private static func json(_ bytes: [UInt8]) {
        guard let value = try? JSONParser.parseOnce(bytes) else { return }
        let again = try? JSONParser.parseOnce(Array(value.jsonText.utf8))
        precondition(again.map { $0 == value } ?? false, "\(value.jsonText) is read as \(String(describing: again))")
        let typed = try? Value(typedJSON: value.typedJSON)
        precondition(typed.map { $0 == value } ?? false, "\(value.jsonText) is no longer the same in typed JSON")
        if let read = try? Value(typedJSON: value) { precondition((try? Value(typedJSON: read.typedJSON)) != nil) }
    }

    /// Two lines: a path and a pattern.
    @Sendable private static func paths(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0x0a, maxSplits: 1, omittingEmptySubsequences: false).map { text(Array($0)) }
        let path = try? AttributePath(parts[0])
        if let path {
            let again = try? AttributePath(path.description)
            precondition(again == path, "\(path) is read as \(String(describing: again))")
        }
        guard let pattern = try? PathPattern(parts[parts.count - 1]) else { return }
        let again = try? PathPattern(pattern.description)
        precondition(again?.description == pattern.description, "\(pattern) is read as \(String(describing: again))")
        precondition(pattern.covers(pattern), "\(pattern) does not cover itself")
        if let path { _ = pattern.matches(nodes: path.nodes) && pattern.covers(PathPattern(attributesAt: path)) }
    }

    /// A scene that a runtime loads.
    @Sendable private static func scenes(_ bytes: [UInt8]) {
        var limits = RuntimeLimits()
        limits.requestCost = 20_000
        limits.graph.nodes = 1000
        limits.graph.attributes = 5000
        let runtime = GraphRuntime(limits: limits, epoch: "fuzz", at: Moment(monotonic: 100, wall: .epoch))
        _ = try? runtime.load(text(bytes), file: "fuzz.yaml")
    }

    /// A rule over variables of each type, compiled with and without types.
    @Sendable private static func rules(_ bytes: [UInt8]) {
        let bindings: Value = [
            "i": ["int": "3"], "u": ["uint": "4"], "d": ["double": "1.5"], "s": ["string": "text"], "b": ["bool": true],
            "l": ["list": [["int": "1"], ["int": "2"]]], "m": ["map": [[["string": "k"], ["int": "1"]]]],
            "t": ["timestamp": ["seconds": "1", "nanos": 0]], "p": ["duration": ["seconds": "1", "nanos": 0]],
        ]
        for isUnchecked in [false, true] {
            guard
                let rule = try? RuleCase(json: [
                    "expr": .string(text(bytes)), "bindings": bindings, "disable_check": .bool(isUnchecked),
                ])
            else { continue }
            _ = rule.run(on: Evaluator()).json
        }
    }

    /// An animation, and lines with numbers between which the value moves.
    @Sendable private static func timelines(_ bytes: [UInt8]) {
        let lines = text(bytes).split(separator: "\n", omittingEmptySubsequences: false)
        let written = String(lines[0])
        let read =
            (try? Animation(written)) ?? (try? JSONParser.parseOnce(Array(written.utf8))).flatMap { try? Animation($0) }
        guard let animation = read else { return }
        let again = try? Animation(animation.description)
        precondition(again == animation, "\(animation) is read as \(String(describing: again))")
        let values = lines.dropFirst().prefix(8).compactMap { try? JSONParser.parseOnce(Array($0.utf8)) }
        guard values.count > 1,
            var timeline = Timeline(changing: values[0], to: values[1], animation: animation, start: 0)
        else { return }
        var now = 0.0
        for value in values.dropFirst(2) {
            now += 0.05
            _ = timeline.displayed(at: now)
            timeline = timeline.changing(to: value, animation: animation, at: now) ?? timeline
        }
        for time in [now, now + 0.1, now + 1, now + 1e6] { _ = timeline.displayed(at: time) }
        _ = Value.map(timeline.event(id: 1)).jsonText
    }

    /// The changes of a turn, as the store has them.
    @Sendable private static func rows(_ bytes: [UInt8]) {
        let values = ValueReader(maximumDepth: StateStore.maximumDepth)
        bytes.withUnsafeBufferPointer { bytes in
            var reader = TurnBody.Reader(bytes)
            while !reader.isAtEnd {
                guard let change = try? reader.next() else { return }
                if let value = change.value, let read = try? values.value(value) {
                    let written = ByteBuffer()
                    written.appendCompact(read)
                    let again = written.withBytes { try? values.value($0) }
                    precondition(again.map { $0 == read } ?? false, "\(read) is read as \(String(describing: again))")
                }
            }
        }
    }

    /// The target of a request in HTTP.
    @Sendable private static func targets(_ bytes: [UInt8]) {
        guard let target = Target(text(bytes)) else { return }
        _ = try? target.flag("initial")
        _ = try? target.rate("maxRate")
        _ = Target.position(target["since"])
        try? target.allow("path", "since")
    }

    /// A request in HTTP: a line with its method and target, and its body. It has one answer.
    @Sendable private static func bodies(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0x0a, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let words = text(parts[0]).split(separator: " ", maxSplits: 1).map(String.init)
        let machine = FakeMachine()
        let settings = Gateway.Settings(hosts: ["localhost"], isWritable: true, socket: "/daemon")
        let door = FrontDoor(settings: settings, tokens: nil, machine)
        door.start()
        machine.daemon.answerAll()
        let channel = FakeChannel()
        channel.ask(
            door, words.first ?? "", words.count > 1 ? words[1] : "", [("Content-Type", "application/json")],
            isFinished: false)
        let body = parts.count > 1 ? parts[1] : []
        channel.send(Array(body.prefix(body.count / 2)))
        channel.send(Array(body.dropFirst(body.count / 2)))
        channel.finish()
        for _ in 0..<20 {
            machine.advance(0.01)
            machine.daemon.answerAll()
        }
        precondition(channel.status != nil, "a request is not answered")
        channel.leave()
        machine.advance(0.01)
        precondition(door.budgets.streams.used == 0, "a page is left when its connection is closed")
    }

    /// A message between daemons: a frame and its body, a manifest, the name of a site.
    @Sendable private static func messages(_ bytes: [UInt8]) {
        _ = try? SiteName(text(bytes))
        _ = try? Manifest(json: bytes)
        var body = bytes
        if let (frame, length) = try? Frame.read(bytes) {
            body = Array(bytes.dropFirst(length))
            var assembler = Assembler(limit: 1 << 16)
            if let whole = try? assembler.add(frame, body[...]) { body = whole.body }
            var follower = Follower()
            _ = follower.step(frame)
            follower.reached(frame.position)
        }
        guard let transaction = try? Transaction(json: body) else { return }
        let again = try? Transaction(json: transaction.json)
        precondition(
            again?.contents.count == transaction.contents.count, "a body is no longer the same when it is read again")
        var merged = transaction
        merged.merge(transaction)
    }
}
