import AttributeValues
import EventLoop
import GraphRuntime
import WireProtocol

// Turns lines into commands.
extension Session {
    /// Performs the commands left over from the last turn. If there are none, performs requests until there are no
    /// more, the client has had its share of the turn, or it must first read its output.
    ///
    /// - Returns: whether the client has more requests that may be performed.
    func performCalls(_ decoder: RequestDecoder, by runtime: GraphRuntime) -> Bool {
        // Output that waits for the client comes before the answers to its next requests.
        if isBehind { return false }
        if hasPostponed {
            let calls = takePostponed()
            share.note(requests: calls.count)
            for call in calls { runtime.take(call) }
            return input.hasLine
        }
        var rest = share.requestsPerTurn(sessions.limits, portion: sessions.portion)
        let most = min(share.bytesPerTurn, sessions.performedLeft)
        var bytes = most
        while rest > 0, bytes > 0, runtime.admits(id), let line = input.takeLine() {
            bytes -= line.count + 1
            rest -= perform(line, decoder, runtime)
        }
        sessions.performedLeft -= most - bytes
        // The client is told of a dropped line after the replies to all lines before it.
        if !input.hasLine, let fault = owedFault {
            owedFault = nil
            share.note(requests: 1)
            runtime.take(.refused(id, id: .null, fault))
        }
        input.releaseIfEmpty()
        if !hasEnded, !input.hasLine { connection.startReading() }
        return input.hasLine
    }

    /// - Returns: the part of the client's share that the line has used.
    private func perform(_ line: UnsafeBufferPointer<UInt8>, _ decoder: RequestDecoder, _ runtime: GraphRuntime) -> Int
    {
        guard line.count <= share.messageSize(sessions.limits) else {
            let failure = Failure(
                .limit, "a message of \(line.count) bytes", hint: share.messageSizeHint(sessions.limits))
            share.note(requests: 1)
            runtime.take(.refused(id, id: .null, RequestFault(code: RequestFault.invalidRequest, failure: failure)))
            return 1
        }
        var used = 1
        decoder.decode(line, isPadded: true) { incoming in
            share.note(requests: 1)
            switch incoming {
            case .call(let requestID, let request):
                if request.isHeavy { used = sessions.limits.requestsPerTurn }
                runtime.take(request, of: id, requestID)
            case .fault(let requestID?, let fault): runtime.take(.refused(id, id: requestID, fault))
            case .fault(nil, let fault):
                sessions.log.debug("\(name): a notification was refused: \(fault.failure.message)", metadata: details)
            case .batchBegins(let count):
                used = max(used, count)
                runtime.take(.batchBegins(id))
            case .batchEnds: runtime.take(.batchEnds(id))
            }
        }
        return used
    }
}

extension Request {
    /// True if only one such request is performed per turn: its answer may be as large as the graph, or costs as much
    /// as a rule may, and is made for this request alone.
    fileprivate var isHeavy: Bool {
        switch self {
        case .describe, .board, .dump, .explain, .history, .trace, .eval: true
        default: false
        }
    }
}
