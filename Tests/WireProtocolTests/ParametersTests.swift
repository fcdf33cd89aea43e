import AttributeValues
import Testing
import WireProtocol

@Suite("Parameters")
struct ParametersTests {
    @Test(
        "a wrong parameter is named, with what was expected and found",
        arguments: [
            ("set", #"{"value":1}"#, "\"path\" is missing"),
            ("set", #"{"path":5,"value":1}"#, "path: expected a string, found 5"),
            ("set", #"{"path":"/a.b","value":1,"valu":2}"#, "no parameter \"valu\""),
            ("set", #"{"path":"/a.b","path":"/a.c","value":1}"#, "\"path\" is given twice"),
            ("set", #""x""#, "params is an object or a list"),
            ("set", #"["/a.b",1,null,false,"l",false,0,"o",7]"#, "at most 8 parameters"),
            ("get", #"{}"#, "exactly one of \"path\" and \"paths\""),
            ("get", #"{"path":"/a.b","paths":[]}"#, "exactly one of"),
            ("get", #"{"paths":["/a.b",7]}"#, "paths[1]: expected a string, found 7"),
            ("transact", #"{"mutations":[{"op":"sett","path":"/a.b","value":1}]}"#, "mutations[0].op: expected one of"),
            ("transact", #"{"mutations":[{"op":"set","path":"/a.b"}]}"#, "set needs a value"),
            ("transact", #"{"mutations":[{"op":"toggle","path":"/a.b","value":1}]}"#, "toggle takes no value"),
            (
                "transact", #"{"mutations":[{"op":"set","path":"/a.b","value":1,"index":0}]}"#,
                "only insert takes an index"
            ),
            ("transact", #"{"mutations":[{"op":"toggle"}]}"#, "lacks the member \"path\""),
            ("transact", #"{"mutations":[{"op":"toggle","path":"/a.b","patt":1}]}"#, "unknown member \"patt\""),
            ("subscribe", #"{"paths":[]}"#, "paths must not be empty"),
            ("subscribe", #"{"paths":["/a"],"events":["updates"]}"#, "events[0]: expected one of update"),
            ("subscribe", #"{"paths":["/a"],"maxRate":0}"#, "expected a number above 0, found 0"),
            ("subscribe", #"{"paths":["/a"],"since":{"epoch":"x"}}"#, "since lacks the member \"revision\""),
            ("subscribe", #"{"paths":["/a"],"since":{"epoch":"x","revision":-1}}"#, "an integer of 0 or more"),
            ("apply", #"{"document":[]}"#, "document: expected a string or an object"),
            ("dump", #"{"layer":"board"}"#, "a layer is a document"),
            ("dump", #"{"format":"png"}"#, "expected one of json, dot, scene, found \"png\""),
            ("unsubscribe", #"{"subscription":1.5}"#, "an integer of 0 or more, found 1.5"),
        ])
    func refused(method: String, parameters: String, message: String) throws {
        let fault = try fault(method, parameters)
        #expect(fault.code == RequestFault.invalidParameters)
        #expect(fault.failure.code == .invalid)
        #expect(fault.failure.message.contains(message), "\(fault.failure.message)")
    }

    @Test("a long text of a client is not repeated whole") func longTexts() throws {
        let long = String(repeating: "x", count: 100_000)
        #expect(try fault("dump", #"{"format":"\#(long)"}"#).failure.message.utf8.count < 200)
        #expect(try fault("dump", #"{"\#(long)":1}"#).failure.message.utf8.count < 200)
        #expect(try fault(long, "{}").failure.message.utf8.count < 200)
    }

    @Test("parameters may be given by position, and null leaves an optional one out") func positions() throws {
        guard case .set(let mutation, let options) = try request("set", #"["/a.b",null,null,null,"label"]"#) else {
            throw Unexpected("set")
        }
        #expect(mutation.path == "/a.b")
        #expect(mutation.value == .null)
        #expect(options.animation == nil)
        #expect(options.label == "label")
    }

    @Test("set reads value, animation and options as they are") func set() throws {
        guard
            case .set(let mutation, let options) = try request(
                "set",
                #"{"value":{"int":"5"},"typed":true,"animation":{"curve":"linear"},"disablesAnimations":true,"path":"/a.b[0]"}"#
            )
        else { throw Unexpected("set") }
        #expect(mutation.operation == .set)
        #expect(mutation.path == "/a.b[0]")
        #expect(mutation.value == ["int": "5"])
        #expect(options.typed && options.disablesAnimations)
        #expect(options.animation == ["curve": "linear"])
    }

    @Test("every mutation is read with its operands, in order") func mutations() throws {
        let parameters = #"""
            {"mutations":[{"op":"set","path":"/a.b","value":null},{"op":"toggle","path":"/a.c"},{"op":"add","path":"/a.d","value":1},
            {"op":"append","path":"/a.e","value":2},{"op":"insert","path":"/a.e","value":3,"index":0},{"op":"remove","path":"/a.e[0]"},
            {"op":"merge","path":"/a.f","value":{}},{"op":"test","path":"/a.g","value":4}]}
            """#
        guard case .transact(let mutations, _) = try request("transact", parameters.filter { $0 != "\n" }) else {
            throw Unexpected("transact")
        }
        #expect(mutations.map(\.operation) == Mutation.Operation.allCases)
        #expect(mutations.map(\.value) == [.null, nil, 1, 2, 3, nil, [:], 4])
        #expect(mutations[4].index == 0)
    }

    @Test("a subscription has its defaults: updates, with a snapshot") func subscribeDefaults() throws {
        guard case .subscribe(let plain) = try request("subscribe", #"{"paths":["/a/**"]}"#) else {
            throw Unexpected("subscribe")
        }
        #expect(plain.events == .update)
        #expect(plain.initial && !plain.css && !plain.typed && !plain.bookmarks)
        #expect(plain.since == nil && plain.maxRate == nil && plain.frameRate == nil)
    }

    @Test("a subscription to invalidations alone gets no snapshot unless it asks") func invalidateOnly() throws {
        guard case .subscribe(let quiet) = try request("subscribe", #"{"paths":["/a"],"events":["invalidate"]}"#),
            case .subscribe(let asked) = try request(
                "subscribe", #"{"paths":["/a"],"events":["invalidate"],"initial":true}"#)
        else { throw Unexpected("subscribe") }
        #expect(!quiet.initial)
        #expect(asked.initial)
    }

    @Test("a subscription takes everything that it can be asked") func subscribeWhole() throws {
        guard
            case .subscribe(let all) = try request(
                "subscribe",
                #"""
                {"paths":["/a","/b"],"events":["update","structure","completion"],"since":{"epoch":"e","revision":9},"maxRate":2,"frames":{"rate":30},"css":true,"typed":true,"bookmarks":true}
                """#)
        else { throw Unexpected("subscribe") }
        #expect(all.patterns == ["/a", "/b"])
        #expect(all.events == [.update, .structure, .completion, .frames])
        #expect(all.since == Request.Position(epoch: "e", revision: 9))
        #expect(all.maxRate == 2 && all.frameRate == 30 && all.css && all.typed && all.bookmarks)
    }

    @Test("the other methods read what they name") func others() throws {
        if case .apply(let apply) = try request(
            "apply", #"{"document":"agd: 1","mode":"merge","at":"/x","dryRun":true}"#)
        {
            #expect(apply.document == "agd: 1" && apply.mode == .merge && apply.at == "/x" && apply.dryRun)
        } else {
            Issue.record("apply")
        }
        if case .move(let path, let to, let index, _) = try request("move", #"{"path":"/a","to":"/b","index":2}"#) {
            #expect(path == "/a" && to == "/b" && index == 2)
        } else {
            Issue.record("move")
        }
        if case .describe(nil, 3) = try request("describe", #"{"depth":3}"#) {} else { Issue.record("describe") }
        if case .explain("/a.b", 7) = try request("explain", #"{"path":"/a.b","revision":7}"#) {
        } else {
            Issue.record("explain")
        }
        if case .dump("/", .dot, nil) = try request("dump", #"{"format":"dot"}"#) {} else { Issue.record("dump") }
        if case .stats(.openmetrics) = try request("stats", #"{"format":"openmetrics"}"#) {
        } else {
            Issue.record("stats")
        }
        if case .trace(let enable) = try request("trace", #"{"enable":false}"#) {
            #expect(enable == false)
        } else {
            Issue.record("trace")
        }
        if case .eval(let expression, let bindings, let at, _) = try request(
            "eval", #"{"expression":"a+1","bindings":{"a":2},"at":"/x"}"#)
        {
            #expect(expression == "a+1" && bindings["a"] == 2 && at == "/x")
        } else {
            Issue.record("eval")
        }
        if case .onDisconnect(let mutations, _) = try request("onDisconnect", #"{"mutations":[]}"#) {
            #expect(mutations.isEmpty)
        } else {
            Issue.record("onDisconnect")
        }
        if case .hello("me", nil, nil) = try request("hello", #"{"client":"me"}"#) {} else { Issue.record("hello") }
        if case .hello(nil, "web", nil) = try request("hello", #"{"as":"web"}"#) {} else { Issue.record("hello as") }
    }

    @Test("no call sees anything of an earlier one, and each method reads only what it declares") func forgotten()
        throws
    {
        let decoder = RequestDecoder()
        func send(_ method: String, _ parameters: String) throws -> Request {
            let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#
            guard case .call(_, let request)? = incoming(line, decoder).first else {
                throw Unexpected("a request of \(method)")
            }
            return request
        }
        let padding = String(repeating: "x", count: 100_000)
        for (method, parameters) in [
            ("apply", #"{"document":"\#(padding)"}"#), ("remove", #"{"path":"/\#(padding)"}"#),
            ("move", #"{"path":"/\#(padding)"}"#),
        ] {
            _ = try send("set", #"{"path":"/a.b","value":1,"label":"old","typed":true}"#)
            switch try send(method, parameters) {
            case .apply(let apply): #expect(!apply.options.typed && apply.options.label == nil)
            case .remove(_, let options), .move(_, _, _, let options): #expect(!options.typed && options.label == nil)
            default: Issue.record("another method than \(method)")
            }
        }
        for method in Method.table() {
            let given = method.parameters.filter(\.field.isRequired).map {
                "\"\($0.field.name)\":\(example(of: $0.field.shape))"
            }
            _ = incoming(
                #"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)","params":{\#(given.joined(separator: ","))}}"#,
                decoder)
        }
    }

    private func example(of shape: Shape) -> String {
        switch shape {
        case .array(let element): "[\(example(of: element))]"
        case .object(let fields):
            "{" + fields.map { "\"\($0.name)\":\(example(of: $0.shape))" }.joined(separator: ",") + "}"
        case .choice(let words): "\"\(words[0])\""
        case .bool: "true"
        case .integer, .number, .positive, .count: "1"
        case .map: "{}"
        case .any, .string, .objectOrString: "\"/\""
        }
    }
}
