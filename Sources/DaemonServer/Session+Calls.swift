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
            callsTaken += calls.count
            for call in calls { runtime.take(call) }
            return input.hasLine
        }
        var rest = share(of: sessions.limits)
        var bytes = hasRights ? Int.max : Session.sizeWithoutRights
        while rest > 0, bytes > 0, runtime.admits(id), let line = input.takeLine() {
            bytes -= line.count + 1
            rest -= perform(line, decoder, runtime)
        }
        // The client is told of a dropped line after the replies to all lines before it.
        if !input.hasLine, let fault = owedFault {
            owedFault = nil
            callsTaken += 1
            runtime.take(.refused(id, id: .null, fault))
        }
        input.releaseIfEmpty()
        if !hasEnded, !input.hasLine { connection.startReading() }
        return input.hasLine
    }

    /// The limit for a client without any right: bytes of one message, and of all its messages in a turn.
    static let sizeWithoutRights = 32 << 10

    /// The largest message, in bytes.
    var messageSize: Int {
        hasRights ? sessions.limits.messageSize : min(sessions.limits.messageSize, Session.sizeWithoutRights)
    }

    var messageSizeHint: String {
        hasRights ? "the setting message-size is the limit" : "a client without any right may send \(messageSize)"
    }

    /// The number of requests that the client may have performed in one turn. Their answers should fill at most half of
    /// its queue, if they are as long as the last ones. A new client begins with few.
    private func share(of limits: ServerLimits) -> Int {
        max(1, min(sessions.portion, limits.requestsPerTurn, limits.outputQueue / 2 / max(1, answerSize)))
    }

    /// - Returns: the part of the client's share that the line has used.
    private func perform(_ line: UnsafeBufferPointer<UInt8>, _ decoder: RequestDecoder, _ runtime: GraphRuntime) -> Int
    {
        guard line.count <= messageSize else {
            let failure = Failure(.limit, "a message of \(line.count) bytes", hint: messageSizeHint)
            callsTaken += 1
            runtime.take(.refused(id, id: .null, RequestFault(code: RequestFault.invalidRequest, failure: failure)))
            return 1
        }
        var share = 1
        decoder.decode(line, isPadded: true) { incoming in
            callsTaken += 1
            switch incoming {
            case .call(let requestID, let request):
                if request.isHeavy { share = sessions.limits.requestsPerTurn }
                runtime.take(request, of: id, requestID)
            case .fault(let requestID?, let fault): runtime.take(.refused(id, id: requestID, fault))
            case .fault(nil, let fault):
                sessions.log.debug("\(name): a notification was refused: \(fault.failure.message)", metadata: details)
            case .batchBegins(let count):
                share = max(share, count)
                runtime.take(.batchBegins(id))
            case .batchEnds: runtime.take(.batchEnds(id))
            }
        }
        return share
    }

    /// Updates the estimated size of answers, for the client's share of the next turn. The estimate decreases in steps,
    /// so that one turn of short answers does not admit many long ones.
    func measureAnswers(_ bytes: Int) {
        guard callsTaken > 0 else { return }
        answerSize = max(bytes / callsTaken, answerSize / 4)
        callsTaken = 0
    }
}

extension Request {
    /// True if only one such request is performed per turn: its answer may be as large as the graph, or costs as much
    /// as a rule may, and is made for this request alone.
    fileprivate var isHeavy: Bool {
        switch self {
        case .describe, .dump, .explain, .history, .trace, .eval: true
        default: false
        }
    }
}
