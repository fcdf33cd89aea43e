import CommandArguments
import Glibc
import Testing

@Suite("words of the command line")
struct ProgramWordsTests {
    private func read(_ words: [[UInt8]]) throws -> [String] {
        var pointers = words.map { word in strdup(word.map { CChar(bitPattern: $0) } + [0]) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return try pointers.withUnsafeMutableBufferPointer { try ProgramWords.read($0.baseAddress) }
    }

    private func bytes(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }

    @Test("the words behind the program's name are read") func words() throws {
        #expect(try read(bytes("agd", "--socket", "", "/tmp/ü")) == ["--socket", "", "/tmp/ü"])
        #expect(try read(bytes("agd")) == [])
        #expect(try read([[0xe9]] + bytes("--version")) == ["--version"])
    }

    @Test("a program without a name and words, or with a word that is no text, does nothing") func faults() throws {
        #expect { try ProgramWords.read(nil) } throws: { fault in
            if case .missing? = fault as? ProgramWords.Fault { true } else { false }
        }
        #expect { try read([]) } throws: { fault in
            if case .missing? = fault as? ProgramWords.Fault { true } else { false }
        }
        #expect { try read(bytes("agd", "--json") + [[0x63, 0xe9]]) } throws: {
            ($0 as? ProgramWords.Fault)?.message == "argument 2 is not UTF-8: c\u{fffd}"
        }
    }

    @Test("the words of this program are those of its main") func own() throws {
        #expect(try ProgramWords.read() == Array(CommandLine.arguments.dropFirst()))
    }
}
