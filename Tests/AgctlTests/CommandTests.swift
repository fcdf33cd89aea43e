import CommandArguments
import Foundation
import Testing
@testable import agctl

@Suite("the command table")
struct CommandTests {
    static var verbs: [String] { Agctl.verbs.map { $0.help.name } }

    @Test("every verb has a name of its own, says what it does and shows examples")
    func table() {
        #expect(Self.verbs.count == Agctl.verbs.count)
        #expect(Swift.Set(Self.verbs).count == Self.verbs.count)
        for verb in Agctl.verbs {
            let name = verb.help.name
            #expect(!verb.help.summary.isEmpty, "\(name)")
            #expect(
                Self.examples(verb.help).contains { $0.hasPrefix("agctl \(name)") || $0.contains("agctl \(name) ") },
                "\(name)")
        }
    }

    @Test(
        "options that verbs have in common may stand before the verb",
        arguments: [
            (["--socket", "/s", "ping"], 2), (["--json", "get", "/a.b"], 1),
            (["--context", "web", "--timeout=2", "ping"], 3), (["--socket=/s", "--color", "never", "get", "/a.b"], 3),
            (["get", "/a.b", "--json"], 0), (["--version"], nil), (["--socket"], nil), ([], nil),
        ])
    func commonOptions(typed: [String], verb: Int?) {
        #expect(ArgumentReader.firstOperand(in: typed, CommonOptions().slots) == verb)
    }

    @Test("options before the verb reach it") func optionsBeforeVerb() throws {
        let ping = try #require(try Agctl.readCommand(["--socket", "/s", "--json", "ping"]) as? PingCommand)
        #expect(ping.common.daemon.socket == "/s" && ping.common.json)
    }

    @Test("eval --typed without a rule reads cases from standard input") func typedCases() throws {
        #expect(try EvalCommand.read(["--typed"]).cases == "-")
        #expect(try EvalCommand.read(["--typed", "1"]).cases == nil)
        #expect(throws: (any Error).self) { try EvalCommand.read([]) }
    }

    private static func examples(_ help: VerbHelp) -> [String] {
        let text = help.discussion
        guard let start = text.range(of: "Examples:")?.upperBound else { return [] }
        return text[start...].split(separator: "\n").filter { $0.hasPrefix("  ") }.map { String($0.drop { $0 == " " }) }
    }

    @Test("every example in the help can be typed", arguments: verbs + [""])
    func examples(of name: String) throws {
        let help = Agctl.verbs.first { $0.help.name == name }?.help ?? Agctl.help
        for example in Self.examples(help) {
            for words in Self.commands(example) where words.first == "agctl" {
                #expect(throws: Never.self, "\(example)") {
                    _ = try Agctl.readCommand(Array(words.dropFirst()))
                }
            }
        }
    }

    /// The simple commands of a shell line: words with quotes taken off, up to where another command or file begins.
    static func commands(_ line: String) -> [[String]] {
        var commands: [[String]] = [[]]
        var word: String?
        var quote: Character?
        func end() {
            if let finished = word { commands[commands.count - 1].append(finished) }
            word = nil
        }
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if "|;&".contains(character) {
                end()
                commands.append([])
            } else if character == " " {
                end()
            } else {
                word = (word ?? "") + String(character)
            }
        }
        end()
        return commands.map { words in Array(words.prefix { $0 != ">" && $0 != "<" }) }.map { words in
            words.first == "until" ? Array(words.dropFirst()) : words
        }
    }

    @Test("an unknown verb is told with the nearest one")
    func unknown() {
        #expect { try Agctl.readCommand(["wacth", "/a.b"]) } throws: { error in
            (error as? UsageError)?.hint == "did you mean 'watch'?"
        }
    }

    @Test(
        "the names of other programs lead to a verb",
        arguments: [("delete", "remove"), ("Subscribe", "watch"), ("incr", "add"), ("append", "transact")])
    func otherNames(name: String, verb: String) {
        #expect { try Agctl.readCommand([name]) } throws: { ($0 as? UsageError)?.hint == "did you mean '\(verb)'?" }
    }

    @Test(
        "short names are their verbs",
        arguments: [("ls", "list"), ("cat", "get"), ("put", "set"), ("rm", "remove"), ("mv", "move")])
    func shortNames(name: String, verb: String) {
        #expect(Agctl.verbs.first { $0.isCalled(name) }?.help.name == verb)
    }

    @Test(
        "wrong usage is told as every other error",
        arguments: [
            ("tree --dept", "unknown option '--dept'", "did you mean '--depth'?"),
            ("tree --xyz", "unknown option '--xyz'", "see 'agctl help tree'"),
            ("set /a.b", "<value> is missing", "see 'agctl help set'"),
            ("get", "<path> ... is missing", "see 'agctl help get'"),
            ("set /a.b 1 2", "unexpected argument '2'", "see 'agctl help set'"),
            ("apply", "the file of the scene is missing", "agctl apply scene.yaml"),
            ("apply -f", "-f <file> needs a value", "see 'agctl help apply'"),
            ("apply -f --merge", "-f <file> needs a value", "see 'agctl help apply'"),
            ("apply -f x --merge --replace", "only one of --create, --merge, --replace may be given", nil),
            ("ping --count x", "'x' is no value of --count <n>; it is a whole number", "see 'agctl help ping'"),
            ("ping --timeout x", "'x' is no value of --timeout <seconds>; it is a number", "see 'agctl help ping'"),
            ("curve bouncy --mode x", "'x' is no value of --mode <mode>; it is one of merge, additive, chain", nil),
            ("get /a.b --json=yes", "--json takes no value", "see 'agctl help get'"),
            ("--json", "a verb is missing", "see 'agctl help'"), ("-x", "unknown option '-x'", "see 'agctl help'"),
        ])
    func usage(line: String, message: String, hint: String?) {
        #expect { try Agctl.readCommand(line.split(separator: " ").map(String.init)) } throws: { error in
            let told = error as? UsageError
            return told?.message == message && (hint == nil || told?.hint == hint)
        }
    }

    @Test("arguments are read in every form")
    func forms() throws {
        func read<V: Verb>(_ line: String, as verb: V.Type = V.self) throws -> V {
            try #require(try Agctl.readCommand(line.split(separator: " ").map(String.init)) as? V)
        }
        let apply: ApplyCommand = try read("apply --file=a=b --replace --dry-run --at /x --at /y")
        #expect(apply.file == "a=b" && apply.mode == .replace && apply.dryRun && apply.at == "/y")
        #expect(try read("apply -f -", as: ApplyCommand.self).file == "-")
        let when: WhenCommand = try read("when --for 5m a --at /b -- sh -c --json --")
        #expect(when.rule == "a" && when.delay == "5m" && when.command == ["sh", "-c", "--json", "--"])
        let set: SetCommand = try read("put /a.b -- --label")
        #expect(set.given.path == "/a.b" && set.given.value == "--label" && set.given.write.label == nil)
        let curve: CurveCommand = try read("curve x --retarget a --retarget b --from -2 --at 0,1")
        #expect(curve.retarget == ["a", "b"] && curve.from.value == -2 && curve.at?.seconds == [0, 1])
        #expect(try read("watch /a /b --max-rate 2", as: WatchCommand.self).patterns == ["/a", "/b"])
    }

    @Test("the help says how each verb is written", arguments: Agctl.verbs.indices)
    func help(of verb: Int) {
        let text = HelpText(of: Agctl.self, width: 80).text(for: Agctl.verbs[verb])
        #expect(text.contains("USAGE: agctl \(Agctl.verbs[verb].help.name) "))
        for slot in Agctl.verbs[verb].init().slots {
            let names = slot.form == .operand ? ["<\(slot.valueName)>"] : slot.names
            #expect(names.allSatisfy(text.contains), "\(names)")
        }
    }

    @Test(
        "options that contradict each other are refused",
        arguments: [
            ["set", "/a.b", "1", "--string", "--typed"],
            ["set", "/a.b", "1", "--animation", "spring", "--no-animation"],
            ["watch", "/a.b", "--once", "--count", "3"], ["move", "/a"], ["feed", "--on-disconnect", "1"],
            ["ping", "--socket", "/s", "--context", "web"], ["ping", "--timeout", "-1"],
            ["trace", "--start", "--stop"], ["trace", "--start", "--rules"],
        ])
    func contradictions(_ arguments: [String]) {
        #expect { try Agctl.readCommand(arguments) } throws: { $0 is UsageError }
    }
}
