import AGClient
import Testing

/// This file imports only what a program outside the project imports.
@Suite("names of the client library")
struct NamesTests {
    @Test("a program that imports AGClient alone can name what its calls take and throw")
    func names() {
        let options = TransactionOptions(animation: "bouncy", label: "tap")
        let mutation = Mutation(operation: .set, path: "/a.b", value: Value.double(1))
        let request = Request.Subscribe(patterns: ["/a.*"], events: [.update, .completion])
        let failure: Failure? = ClientError.attribute(Failure(.ruleFailed, "no")).failure
        #expect(options.label == "tap" && mutation.path == "/a.b" && request.patterns == ["/a.*"])
        #expect(failure?.code == ErrorCode.ruleFailed)
    }
}
