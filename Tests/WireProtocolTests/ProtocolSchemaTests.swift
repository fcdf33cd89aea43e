import AttributeValues
import Testing
import WireProtocol

@Suite("The protocol about itself")
struct ProtocolSchemaTests {
    @Test("every method of the specification is in the table, once") func methods() {
        let names = Method.table().map(\.name)
        #expect(
            Set(names) == [
                "hello", "ping", "get", "set", "transact", "do", "apply", "remove", "move", "restore", "subscribe",
                "unsubscribe",
                "onDisconnect", "delegate", "answer",
                "describe", "board", "explain", "history", "dump", "layers", "stats", "trace", "eval", "prune",
                "log", "series", "seek", "play",
            ])
        #expect(names.count == Set(names).count)
    }

    @Test("rpc.discover, OpenRPC's name, is describe without a path") func discover() {
        let line = Array(#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#.utf8)
        var found: [Request] = []
        line.withUnsafeBufferPointer { (line: UnsafeBufferPointer<UInt8>) in
            RequestDecoder().decode(line) { incoming in
                if case .call(_, let request) = incoming { found.append(request) }
            }
        }
        guard found.count == 1, case .describe(nil, nil) = found[0] else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("every parameter says what it means, and names itself as its key does") func parameters() {
        for method in Method.table() {
            #expect(!method.summary.isEmpty)
            for parameter in method.parameters {
                #expect(parameter.field.name == parameter.key.name)
                #expect(!parameter.field.meaning.isEmpty)
            }
            #expect(Set(method.parameters.map(\.key)).count == method.parameters.count, "\(method.name)")
        }
    }

    @Test("required parameters come first, so that positions can be left out from the end") func order() {
        for method in Method.table() {
            let required = method.parameters.map(\.field.isRequired)
            #expect(required == required.sorted { $0 && !$1 }, "\(method.name)")
        }
    }

    @Test("the document is JSON that names all methods and events") func document() throws {
        let document = ProtocolSchema.describeProtocol()
        let read = try JSONParser.parseOnce(document.jsonText.utf8)
        #expect(read == document)
        guard case .map(let members) = read, case .list(let methods)? = members["methods"],
            case .list(let events)? = members["x-events"]
        else { throw Unexpected("an OpenRPC document") }
        #expect(methods.count == Method.table().count)
        #expect(
            events.compactMap { $0.map?["name"]?.string } == [
                "update", "invalidate", "structure", "frames", "completion", "bookmark", "forward", "ended",
            ])
    }
}
