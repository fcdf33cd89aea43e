import AttributeValues
import Foundation
import TestSupport
import Testing

/// An editor that talks to `agctl lsp`.
private final class Editor {
    let folder: Folder
    private let program: Program
    private let stream: Descriptor
    private var received: [UInt8] = []
    private var next: Int64 = 1
    /// The faults of each file, as last told.
    private(set) var faults: [String: [Value]] = [:]

    init(socket: String = "/nowhere/agd.sock", options: Value = [:]) throws {
        folder = try Folder()
        let (ours, theirs) = try Descriptor.pair()
        stream = ours
        program = try Program(
            "agctl", ["lsp"], environment: ["AGD_SOCKET": socket], folder: folder, input: theirs,
            standardOutput: theirs)
        let told = try call("initialize", ["capabilities": [:], "initializationOptions": options])
        #expect(told.member("capabilities")?.member("hoverProvider") == true)
        try notify("initialized", [:])
    }

    private func send(_ message: Value) throws {
        let text = message.jsonText
        let bytes = Array("Content-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(stream.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Trouble(call: "send") }
            sent += count
        }
    }

    func notify(_ method: String, _ parameters: Value) throws {
        try send(["jsonrpc": "2.0", "method": .string(method), "params": parameters])
    }

    private func message() throws -> Value {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let head = received.firstRange(of: end) {
                let text = String(decoding: received[..<head.lowerBound], as: UTF8.self)
                let length = try #require(Int(text.drop { !$0.isNumber }))
                if received.count >= head.upperBound + length {
                    defer { received.removeFirst(head.upperBound + length) }
                    return try JSONParser.parseOnce(received[head.upperBound..<head.upperBound + length])
                }
            }
            guard stream.isReadable(within: Deadline.patience) else { throw Trouble("the server says nothing") }
            var block = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(stream.number, &block, block.count)
            guard count > 0 else { throw Trouble("the server has ended: \(program.text)") }
            received += block[..<count]
        }
    }

    func call(_ method: String, _ parameters: Value) throws -> Value {
        let id = next
        next += 1
        try send(["jsonrpc": "2.0", "id": .int(id), "method": .string(method), "params": parameters])
        while true {
            let message = try message()
            if message.member("id") == .int(id) { return message.member("result") ?? .null }
            let parameters = message.member("params")
            if let uri = parameters?.member("uri")?.string {
                faults[String(uri.dropFirst("file://".count))] =
                    parameters?.member("diagnostics")?.list.map(Array.init) ?? []
            }
        }
    }

    /// Opens a file that is not on disk, and returns its faults.
    @discardableResult
    func open(_ name: String, _ text: String) throws -> [Value] {
        try notify(
            "textDocument/didOpen",
            ["textDocument": ["uri": uri(name), "languageId": "yaml", "version": 1, "text": .string(text)]])
        return try faults(of: name)
    }

    func change(_ name: String, _ text: String) throws -> [Value] {
        try notify(
            "textDocument/didChange",
            ["textDocument": ["uri": uri(name), "version": 2], "contentChanges": [["text": .string(text)]]])
        return try faults(of: name)
    }

    /// Whatever was told before the answer to another request.
    func faults(of name: String) throws -> [Value] {
        _ = try call("textDocument/hover", place(name, 0, 0))
        return faults[folder.file(name)] ?? []
    }

    func uri(_ name: String) -> Value { .string("file://" + folder.file(name)) }

    private func place(_ name: String, _ line: Int, _ character: Int) -> Value {
        [
            "textDocument": ["uri": uri(name)],
            "position": ["line": .int(Int64(line)), "character": .int(Int64(character))],
        ]
    }

    /// A request about the place behind the first occurrence of some words.
    func ask(_ what: String, _ name: String, _ text: String, behind words: String) throws -> Value {
        let start = try #require(text.range(of: words))
        let lines = text[..<start.upperBound].split(separator: "\n", omittingEmptySubsequences: false)
        return try call("textDocument/\(what)", place(name, lines.count - 1, lines.last?.utf16.count ?? 0))
    }

    func hover(_ name: String, _ text: String, behind words: String) throws -> String {
        try ask("hover", name, text, behind: words).member("contents")?.member("value")?.string ?? ""
    }

    func completions(_ name: String, _ text: String, behind words: String) throws -> [String] {
        (try ask("completion", name, text, behind: words).list ?? []).compactMap { $0.member("label")?.string }
    }

    func end() throws -> Int32 {
        _ = try call("shutdown", [:])
        try notify("exit", [:])
        return try program.wait()
    }
}

extension Value {
    fileprivate func member(_ name: String) -> Value? { map?[.string(name)] }
    fileprivate var line: Int64? {
        if case .int(let line)? = member("range")?.member("start")?.member("line") { line } else { nil }
    }
}

@Suite("agctl lsp")
struct EditorTests {
    private static let scene = """
        agd: 1
        import: lib.yaml
        keys: { environment: { accent: { default: blue, type: color } } }
        functions:
          twice(n): n * 2
        nodes:
          - id: player
            state:
              # From 0 to 1.
              volume: 0.5
              name: "Büro 🎧"
            computed:
              percent: volume * 100.0
              more: twice(3)
            children:
              - id: knob
                component: Gauge
                let: { title: Volume }
                binding: { value: $volume }
              - { id: label, let: { text: =name } }

        """
    private static let library = """
        components:
          # Shows a number.
          Gauge:
            let: [title]
            binding: [value]
            computed: { half: value / 2 }

        """

    private func editor(socket: String = "/nowhere/agd.sock") throws -> Editor {
        let editor = try Editor(socket: socket)
        try editor.open("lib.yaml", Self.library)
        #expect(try editor.open("scene.yaml", Self.scene) == [])
        return editor
    }

    @Test("faults are those of the checker, and go when they are mended") func faults() throws {
        let editor = try editor()
        let wrong = Self.scene.replacing("volume * 100.0", with: "volumee * 100.0")
        let told = try editor.change("scene.yaml", wrong)
        #expect(told.count == 1 && told[0].line == 12, "\(told)")
        #expect(told[0].member("severity") == 1 && told[0].member("code") == "ruleType")
        #expect(told[0].member("message")?.string?.contains("did you mean 'volume'") == true, "\(told)")
        #expect(try editor.change("scene.yaml", Self.scene) == [])
        #expect(try editor.change("scene.yaml", "nodes: [") != [])
        #expect(try editor.end() == 0)
    }

    @Test("a fault behind letters of two units stands where an editor shows it") func columns() throws {
        let editor = try editor()
        let text = "nodes:\n  - { id: \"🎧é\", komputed: {} }\n"
        let told = try editor.open("wide.yaml", text)
        #expect(told.first?.member("range")?.member("start")?.member("character") == 17, "\(told)")
    }

    @Test("an imported file counts as it is in the editor") func imports() throws {
        let editor = try editor()
        _ = try editor.change("lib.yaml", Self.library.replacing("title", with: "heading"))
        let told = try editor.faults(of: "scene.yaml")
        #expect(told.contains { $0.member("message")?.string?.contains("'title'") == true }, "\(told)")
    }

    @Test("faults of test files are told, too") func tests() throws {
        let editor = try editor()
        let told = try editor.open("scene.test.yaml", "tests: { a: [{ sett: { /player.volume: 1 } }] }")
        #expect(told.first?.member("message")?.string?.contains("a step has no key 'sett'") == true, "\(told)")
    }

    @Test("hover tells meanings, types, rules and comments") func hover() throws {
        let editor = try editor()
        #expect(try editor.hover("scene.yaml", Self.scene, behind: "    comput").contains("own attributes"))
        #expect(try editor.hover("scene.yaml", Self.scene, behind: "percent: volu").contains("`state volume: double`"))
        #expect(try editor.hover("scene.yaml", Self.scene, behind: "percent: volu").contains("From 0 to 1."))
        #expect(try editor.hover("scene.yaml", Self.scene, behind: "perce").contains("`computed percent: double`"))
        let component = try editor.hover("scene.yaml", Self.scene, behind: "component: Gau")
        #expect(component.contains("Shows a number.") && component.contains("- `value`"), "\(component)")
        #expect(try editor.hover("scene.yaml", Self.scene, behind: "more: twi").contains("n * 2"))
    }

    @Test("hover tells the present value of a running daemon, and why") func present() throws {
        let daemon = try Daemon(scenes: [Self.library + Self.scene.replacing("agd: 1\nimport: lib.yaml\n", with: "")])
        let editor = try editor(socket: daemon.socket)
        try daemon.client().set("/player.volume", 0.25)
        let told = try editor.hover("scene.yaml", Self.scene, behind: "perce")
        #expect(told.contains("now: `25.0`") && told.contains("after a write of /player.volume"), "\(told)")
    }

    @Test("completion knows keys, names, components, parameters, functions and paths") func completion() throws {
        let editor = try editor()
        func complete(_ old: String, _ new: String, behind words: String? = nil) throws -> [String] {
            let text = Self.scene.replacing(old, with: new)
            _ = try editor.change("scene.yaml", text)
            return try editor.completions("scene.yaml", text, behind: words ?? new)
        }
        let keys = try complete("    computed:\n", "    comp\n", behind: "    comp")
        #expect(keys.contains("computed") && keys.contains("forEach") && !keys.contains("state"), "\(keys)")
        #expect(try complete("component: Gauge", "component: ") == ["Gauge"])
        #expect(try complete("{ title: Volume }", "{ ti", behind: "let: { ti") == ["title"])
        let names = try complete("$volume", "$vo")
        #expect(names.contains("volume") && names.contains("percent") && !names.contains("size"), "\(names)")
        let rule = try complete("volume * 100.0", "vol", behind: "percent: vol")
        #expect(rule.contains("volume") && rule.contains("twice") && rule.contains("held"), "\(rule)")
        #expect(try complete("twice(3)", "env.").contains("accent"))
        #expect(try complete("twice(3)", "$/player/") == ["knob", "label"])
        let state = try complete("volume: 0.5", "volume: { initial: 0.5, tr }", behind: "0.5, tr")
        #expect(state.contains("transient") && !state.contains("initial"), "\(state)")
    }

    @Test("definitions and references lead across imports") func names() throws {
        let editor = try editor()
        let component = try editor.ask("definition", "scene.yaml", Self.scene, behind: "component: Gau")
        #expect(component.member("uri") == editor.uri("lib.yaml") && component.line == 2, "\(component)")
        let state = try editor.ask("definition", "scene.yaml", Self.scene, behind: "value: $volu")
        #expect(state.member("uri") == editor.uri("scene.yaml") && state.line == 9, "\(state)")
        let function = try editor.ask("definition", "scene.yaml", Self.scene, behind: "more: twi")
        #expect(function.line == 4, "\(function)")
        let file = try editor.ask("definition", "scene.yaml", Self.scene, behind: "import: lib")
        #expect(file.member("uri") == editor.uri("lib.yaml"), "\(file)")
        let uses = try editor.ask("references", "scene.yaml", Self.scene, behind: "    volu").list ?? []
        #expect(uses.compactMap(\.line) == [9, 12, 18], "\(uses)")
        let components = try editor.ask("references", "lib.yaml", Self.library, behind: "  Gau").list ?? []
        #expect(components.count == 2, "\(components)")
    }

    @Test("whatever an editor sends, the server goes on") func robustness() throws {
        let editor = try editor()
        #expect(try editor.call("textDocument/rename", ["textDocument": ["uri": editor.uri("scene.yaml")]]) == .null)
        #expect(try editor.call("textDocument/hover", ["textDocument": ["uri": "untitled:1"]]) == .null)
        for end in stride(from: 0, to: Self.scene.count, by: 7) {
            let text = String(Self.scene.prefix(end))
            _ = try editor.change("scene.yaml", text)
            _ = try editor.ask("completion", "scene.yaml", text + " ", behind: text.isEmpty ? " " : text)
        }
        #expect(try editor.change("scene.yaml", Self.scene) == [])
        #expect(try editor.end() == 0)
    }
}
