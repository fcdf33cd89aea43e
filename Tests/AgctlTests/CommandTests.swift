import ArgumentParser
import Foundation
import Testing
@testable import agctl

@Suite("the command table")
struct CommandTests {
    static var verbs: [String] { Agctl.verbs.compactMap { $0.configuration.commandName } }

    @Test("every verb has a name of its own, says what it does and shows examples")
    func table() {
        #expect(Self.verbs.count == Agctl.verbs.count)
        #expect(Swift.Set(Self.verbs).count == Self.verbs.count)
        for verb in Agctl.verbs {
            let name = verb.configuration.commandName ?? ""
            #expect(!verb.configuration.abstract.isEmpty, "\(name)")
            #expect(
                Self.examples(verb).contains { $0.hasPrefix("agctl \(name)") || $0.contains("agctl \(name) ") },
                "\(name)")
        }
    }

    @Test(
        "options that verbs have in common may stand before the verb",
        arguments: [
            (["--socket", "/s", "ping"], ["ping", "--socket", "/s"]),
            (["--json", "get", "/a.b"], ["get", "--json", "/a.b"]),
            (["--context", "web", "--timeout=2", "ping"], ["ping", "--context", "web", "--timeout=2"]),
            (["--socket=/s", "--color", "never", "get", "/a.b"], ["get", "--socket=/s", "--color", "never", "/a.b"]),
            (["get", "/a.b", "--json"], ["get", "/a.b", "--json"]), (["--version"], ["--version"]),
            (["--socket"], ["--socket"]),
            (["--json", "--help"], ["--json", "--help"]), ([], []),
        ])
    func commonOptions(typed: [String], read: [String]) { #expect(GlobalOptions.moveBehindVerb(typed) == read) }

    @Test("options before the verb reach it") func optionsBeforeVerb() throws {
        let ping = try #require(try Front.readCommand(["--socket", "/s", "--json", "ping"]) as? PingCommand)
        #expect(ping.common.daemon.socket == "/s" && ping.common.json)
    }

    @Test("eval --typed without a rule reads cases from standard input") func typedCases() throws {
        #expect(try EvalCommand.parse(["--typed"]).cases == "-")
        #expect(try EvalCommand.parse(["--typed", "1"]).cases == nil)
        #expect(throws: (any Error).self) { try EvalCommand.parse([]) }
    }

    private static func examples(_ command: any ParsableCommand.Type) -> [String] {
        let text = command.configuration.discussion
        guard let start = text.range(of: "Examples:")?.upperBound else { return [] }
        return text[start...].split(separator: "\n").filter { $0.hasPrefix("  ") }.map { String($0.drop { $0 == " " }) }
    }

    @Test("every example in the help can be typed", arguments: verbs + [""])
    func examples(of name: String) throws {
        let command = Agctl.verbs.first { $0.configuration.commandName == name } ?? Agctl.self
        for example in Self.examples(command) {
            for words in Self.commands(example) where words.first == "agctl" {
                #expect(throws: Never.self, "\(example)") {
                    _ = try Front.readCommand(NegativeNumbers.disguise(Array(words.dropFirst())))
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

    @Test("the plain forms of the hot verbs need no argument parser, all others do")
    func quickPath() {
        for line in [
            "get /a.b", "get /a.b /c.d", "set /a.b 5", "set /a.b -5", "add /a.b 1", "toggle /a.b",
            "set /a.b 5 --animation bouncy", "cat /a.b", "put /a.b 5", "ping",
            "toggle --label seek /a.b /c.d --animation spring",
        ] {
            #expect(QuickPath(line.split(separator: " ").map(String.init)) != nil, "\(line)")
        }
        for line in [
            "get", "get /a.b --json", "set /a.b", "set /a.b 1 2", "watch /a.b", "-h", "get -h",
            "set /a.b 1 --animation", "set /a.b 1 --animation --json",
            "set /a.b 1 --label a --label b", "set /a.b 1 --animation=spring", "get /a.b --label x",
            "set /a.b 1 -- --label", "ping --count 2", "ping /a.b", "ping --label x",
        ] {
            #expect(QuickPath(line.split(separator: " ").map(String.init)) == nil, "\(line)")
        }
    }

    @Test("an unknown verb is told with the nearest one")
    func unknown() {
        #expect { try Front.readCommand(["wacth", "/a.b"]) } throws: { error in
            let complaint = error as? Complaint
            return complaint?.status == .usage && complaint?.hint == "did you mean 'watch'?"
        }
    }

    @Test(
        "the names of other programs lead to a verb",
        arguments: [("delete", "remove"), ("Subscribe", "watch"), ("incr", "add")])
    func otherNames(name: String, verb: String) {
        #expect { try Front.readCommand([name]) } throws: { ($0 as? Complaint)?.hint == "did you mean '\(verb)'?" }
    }

    @Test(
        "short names are their verbs",
        arguments: [("ls", "list"), ("cat", "get"), ("put", "set"), ("rm", "remove"), ("mv", "move")])
    func shortNames(name: String, verb: String) {
        #expect(Agctl.verbs.first { $0.isCalled(name) }?.configuration.commandName == verb)
    }

    @Test("wrong usage is told as every other error, with the way to the help")
    func usage() {
        #expect { try Front.readCommand(["tree", "--deep"]) } throws: { error in
            let text = Front.refuse(error).text(Style(isOn: false))
            return text == "agctl: unknown option '--deep'. Did you mean '--depth'?\n  hint: see 'agctl help tree'\n"
        }
    }

    @Test("wrong usage is told as JSON where that is asked for, with arguments as they were typed")
    func usageAsJSON() {
        let words = NegativeNumbers.disguise(["tree", "/", "--depth", "-1x", "--json"])
        #expect { try Front.readCommand(words) } throws: { error in
            let complaint = Front.refuse(error)
            return complaint.status == .usage
                && complaint.json.map?["error"]?.map?["message"]?.string?.contains("'-1x'") == true
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
        #expect { try Front.readCommand(arguments) } throws: { Agctl.exitCode(for: $0).rawValue == 64 }
    }
}
