import AttributeValues
import CommandArguments
import Testing
import WireProtocol
@testable import agctl

@Suite("changes as text")
struct MutationTextTests {
    private func read(_ text: String, _ form: ValueForm = .auto) throws -> [String] {
        try MutationText.read(text, form, name: "test").map { mutation in
            let value = mutation.value.map { " " + $0.typedJSON.jsonText } ?? ""
            return "\(mutation.operation.rawValue) \(mutation.path)\(mutation.index.map { " #\($0)" } ?? "")\(value)"
        }
    }

    @Test("a line is an operation, a path and a value")
    func lines() throws {
        let text = """
            set /a.b 1
            # a comment

              toggle /c.d
            set /a.title Hello world
            insert /a.list 2 {"x": 1}
            remove /a.list[0]
            test /a.b null
            """
        #expect(
            try read(text) == [
                #"set /a.b {"int":"1"}"#, "toggle /c.d", #"set /a.title {"string":"Hello world"}"#,
                #"insert /a.list #2 {"map":[[{"string":"x"},{"int":"1"}]]}"#, "remove /a.list[0]",
                #"test /a.b {"null":null}"#,
            ])
    }

    @Test("lines that end in CR LF are lines")
    func carriageReturns() throws {
        #expect(
            try read("set /a.s first\r\n# a comment\r\n\r\nset /a.i 99\r\n") == [
                #"set /a.s {"string":"first"}"#, #"set /a.i {"int":"99"}"#,
            ])
        #expect { try read("set /a.b 1\r\nsett /a.b 1\r\n") } throws: {
            ($0 as? Complaint)?.message == "test:2: there is no mutation 'sett'"
        }
    }

    @Test("an argument is one mutation, however many lines its value has")
    func argument() throws {
        func read(_ text: String, _ form: ValueForm = .string) throws -> [Value?] {
            try MutationText.readArgument(text, form, behind: 0).map(\.value)
        }
        #expect(try read("set /a.s title\n# not a comment") == ["title\n# not a comment"])
        #expect(try read("set /a.s title\r\nset /a.s injected") == ["title\r\nset /a.s injected"])
        #expect(try read("set /a.m {\n  \"k\": 1\n}\n", .auto) == [["k": 1]])
        #expect(
            try read("[{\"op\": \"toggle\", \"path\": \"/a.b\"},\n{\"op\": \"toggle\", \"path\": \"/a.c\"}]", .auto)
                == [nil, nil])
    }

    @Test(
        "an argument that says nothing is a mistake", arguments: ["", "  \n", "# a comment\nset /a.b 1", "sett /a.b 1"])
    func noChange(_ argument: String) {
        #expect { try MutationText.readArgument(argument, .auto, behind: 1) } throws: { error in
            let complaint = error as? Complaint
            return complaint?.status == .data && complaint?.message.hasPrefix("mutations[1]: ") == true
                && complaint?.hint != nil
        }
    }

    @Test("white space inside quotes belongs to the path")
    func quotedPath() throws {
        #expect(try read(#"set /hosts/"web 1".load 2"#) == [#"set /hosts/"web 1".load {"int":"2"}"#])
        #expect(try read(#"remove /a.items[id="x y"]"#) == [#"remove /a.items[id="x y"]"#])
    }

    @Test("JSON is read as the protocol has it")
    func json() throws {
        #expect(
            try read(#"[{"op":"add","path":"/a.b","value":1},{"op":"insert","path":"/a.c","index":0,"value":true}]"#)
                == [#"add /a.b {"int":"1"}"#, #"insert /a.c #0 {"bool":true}"#])
        #expect(try read(#"{"op":"set","path":"/a.b","value":{"uint":"5"}}"#, .typed) == [#"set /a.b {"uint":"5"}"#])
    }

    @Test(
        "JSON that is not the protocol's is refused, with the place of the mistake",
        arguments: [
            (#"[{"op":"set","path":"/a.n","vaule":8}]"#, #"test: mutations[0] has an unknown member "vaule""#),
            (
                #"[{"op":"toggle","path":"/a.b"},{"op":"insert","path":"/a.l","idx":3,"value":4}]"#,
                #"test: mutations[1] has an unknown member "idx""#
            ),
            (#"{"op":"set","path":"/a.n"}"#, "test: mutations[0]: set needs a value"),
            (#"{"op":"toggle","path":"/a.n","value":true}"#, "test: mutations[0]: toggle takes no value"),
            (
                #"{"op":"insert","path":"/a.l","index":"3","value":4}"#,
                #"test: mutations[0].index: expected an integer of 0 or more, found "3""#
            ),
            (
                #"{"op":"insert","path":"/a.l","index":1.5,"value":4}"#,
                "test: mutations[0].index: expected an integer of 0 or more, found 1.5"
            ),
            (
                #"{"op":"insert","path":"/a.l","index":-1,"value":4}"#,
                "test: mutations[0].index: expected an integer of 0 or more, found -1"
            ),
            (#"{"op":"set","path":"/a.l","index":1,"value":4}"#, "test: mutations[0]: only insert takes an index"),
            (
                #"{"op":"sett","path":"/a.l","value":4}"#,
                "test: mutations[0].op: expected one of set, toggle, add, append, insert, remove, merge, test, "
                    + #"found "sett""#
            ),
            (#"[1]"#, "test: mutations[0]: expected an object, found 1"),
        ])
    func strictJSON(_ text: String, _ message: String) {
        #expect { try read(text) } throws: {
            ($0 as? Complaint)?.message == message && ($0 as? Complaint)?.status == .data
        }
    }

    @Test("JSON says itself which of its values are texts")
    func stringsInJSON() {
        #expect { try read(#"{"op":"set","path":"/a.s","value":5}"#, .string) } throws: {
            ($0 as? Complaint)?.status == .usage
        }
    }

    @Test("a fed line is a mutation in words or as JSON; with --json, it is JSON alone")
    func fedLine() throws {
        func read(_ line: String, _ form: ValueForm) throws -> String? {
            try MutationText.readFedLine(line, form).map {
                "\($0.operation) \($0.path) \($0.operand.typedJSON.jsonText)"
            }
        }
        let object = #"{"op":"set","path":"/a.s","value":"x\nset /a.b 1"}"#
        for form in [ValueForm.auto, .json] {
            #expect(try read(object, form) == #"set /a.s {"string":"x\nset /a.b 1"}"#)
            #expect(try read("  ", form) == nil && read("# a comment", form) == nil)
        }
        #expect(try read("set /a.b 1", .auto) == #"set /a.b {"int":"1"}"#)
        for (line, form, message) in [
            ("set /a.b 1", ValueForm.json, "not a JSON object"), ("\"set /a.b 1\"", .json, "not a JSON object"),
            ("[\(object)]", .json, "a line is one mutation, not a list"),
            (#"{"op":"set","path":"/a.n"}"#, .json, "set needs a value"),
            (#"{"op":"set","path":"/a.n","vaule":8}"#, .auto, #"mutation has an unknown member "vaule""#),
        ] {
            #expect("\(line)") { try read(line, form) } throws: { ($0 as? Complaint)?.message == message }
        }
    }

    @Test(
        "a text is read by a type: as JSON if that fits, otherwise as it is",
        arguments: [
            ("12345", "string", #"{"string":"12345"}"#), ("12345", "int", #"{"int":"12345"}"#),
            ("12345", "dyn", #"{"int":"12345"}"#), ("5", "double", #"{"int":"5"}"#),
            ("00501", "string", #"{"string":"00501"}"#),
            ("true", "string", #"{"string":"true"}"#), ("true", "bool", #"{"bool":true}"#),
            ("\"on\"", "string", #"{"string":"on"}"#), ("null", "string?", #"{"null":null}"#),
            ("null", "string", #"{"string":"null"}"#), ("7", "string?", #"{"string":"7"}"#),
            ("a\nb", "string", #"{"string":"a\nb"}"#), ("1e999", "string", #"{"string":"1e999"}"#),
            ("[1]", "string", #"{"string":"[1]"}"#), ("[1]", "list", #"{"list":[{"int":"1"}]}"#),
        ])
    func byType(_ text: String, _ type: String, _ read: String) throws {
        #expect(ValueForm.read(text, as: try #require(ValueType(type))).typedJSON.jsonText == read)
    }

    @Test("a JSON null is a value, and an insert may do without an index")
    func completeJSON() throws {
        #expect(
            try read(#"[{"op":"set","path":"/a.n","value":null},{"op":"insert","path":"/a.l","value":4}]"#)
                == [#"set /a.n {"null":null}"#, #"insert /a.l {"int":"4"}"#])
    }

    @Test(
        "a mistake is told with its line and what would be right",
        arguments: [
            ("set /a.b 1\nsett /a.b 1", "test:2: there is no mutation 'sett'"), ("set", "test:1: set needs a path"),
            ("set a.b 1", "test:1: set needs a path"), ("set /a.b", "test:1: set needs a value"),
            ("toggle /a.b 1", "test:1: toggle takes no value"),
            ("insert /a.b x 1", "test:1: insert needs an index and a value"),
        ])
    func mistakes(_ text: String, _ message: String) {
        #expect { try read(text) } throws: { error in
            (error as? Complaint)?.message == message && (error as? Complaint)?.status == .data
                && (error as? Complaint)?.hint != nil
        }
    }
}

@Suite("values on the command line")
struct ValueFormTests {
    @Test(
        "a text of JSON's form that no value holds is refused, and not taken for a text",
        arguments: ["1e999", "[99999999999999999999]"])
    func outOfRange(text: String) {
        let complaint = #expect(throws: Complaint.self) { try ValueForm.auto.read(text) }
        #expect(complaint?.message.hasSuffix("is out of range") == true)
        #expect(complaint?.hint == "to write it as text, use --string")
        #expect((try? ValueForm.string.read(text)) == .string(text))
    }

    @Test("JSON where it is JSON, else text")
    func auto() throws {
        #expect(try ValueForm.auto.read("5") == 5)
        #expect(try ValueForm.auto.read("5.0") == 5.0)
        #expect(try ValueForm.auto.read("007") == "007")
        #expect(try ValueForm.auto.read("Hello") == "Hello")
        // Begins as a number that is out of range.
        #expect(try ValueForm.auto.read("6e415abc") == "6e415abc")
        #expect(try ValueForm.auto.read(#""5""#) == "5")
        #expect(try ValueForm.auto.read("") == "")
    }

    @Test("forced forms are kept to")
    func forced() throws {
        #expect(try ValueForm.string.read("5") == "5")
        #expect(try ValueForm.typed.read(#"{"uint":"5"}"#) == .uint(5))
        #expect(throws: Complaint.self) { try ValueForm.json.read("Hello") }
        #expect(throws: Complaint.self) { try ValueForm.typed.read("5") }
    }

    @Test(
        "a refused value is told with what is wrong with it",
        arguments: [
            (ValueForm.typed, "5", "5: typed JSON is an object with one member"),
            (.typed, #"{"int":"x"}"#, #"{"int":"x"}: "x" is not the typed JSON of int"#),
            (.json, "Hello", "not JSON at column 1: expected a value, found Hello"),
        ])
    func refused(_ form: ValueForm, _ text: String, _ message: String) {
        #expect { try form.read(text) } throws: { ($0 as? Complaint)?.message.hasPrefix(message) == true }
    }

    @Test("negative numbers and durations are values, not options")
    func negative() throws {
        for value in ["-5", "-1.5e3", "-.5", "-10m", "-1h30m", "-1.5s", "-inf", "-5 + 3", "-"] {
            #expect(!ArgumentReader.isOption(value), "\(value)")
        }
        for option in ["-f", "--5", "--", "-x5", "-."] { #expect(ArgumentReader.isOption(option), "\(option)") }
        let set = try #require(
            try Agctl.readCommand(["set", "/a.b", "-5s", "--label", "-3", "--animation", "-1"]) as? SetCommand)
        #expect(set.given.value == "-5s")
        #expect(set.given.write.makeOptions().label == "-3" && set.given.write.makeOptions().animation == "-1")
    }
}
