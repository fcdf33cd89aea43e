import AttributeValues
import EventLoop
import GraphRuntime
import WireProtocol

// Lines into commands.
extension Session {
    /// Has performed what was left over by the last turn, or else requests until there are no more, the client has had
    /// its share of this turn, or it should first take what it is owed.
    ///
    /// - Returns: whether it has more to perform, and may.
    func performCalls(_ decoder: RequestDecoder, by runtime: GraphRuntime) -> Bool {
        // What a client is owed comes before the answers to its next requests.
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
        // Of a line that was dropped the client is told behind the replies to all lines before it.
        if !input.hasLine, let fault = owedFault {
            owedFault = nil
            callsTaken += 1
            runtime.take(.refused(id, id: .null, fault))
        }
        input.releaseIfEmpty()
        if !hasEnded, !input.hasLine { connection.startReading() }
        return input.hasLine
    }

    /// Bytes of a message, and of the messages of one turn, that are read for a client without any right.
    static let sizeWithoutRights = 32 << 10

    /// Bytes that a message may have.
    var messageSize: Int {
        hasRights ? sessions.limits.messageSize : min(sessions.limits.messageSize, Session.sizeWithoutRights)
    }

    var messageSizeHint: String {
        hasRights ? "message-size is the limit" : "a client without any right may send \(messageSize)"
    }

    /// Requests that the client may have executed in one turn: as many as its answers, judged by the last ones, fill
    /// half of its queue. A new client begins with few.
    private func share(of limits: ServerLimits) -> Int {
        max(1, min(limits.requestsPerTurn, limits.outputQueue / 2 / max(1, answerSize)))
    }

    /// - Returns: how much of the client's share the line has used.
    private func perform(_ line: UnsafeBufferPointer<UInt8>, _ decoder: RequestDecoder, _ runtime: GraphRuntime) -> Int
    {
        guard line.count <= messageSize else {
            let failure = Failure(.limit, "a message of \(line.count) bytes", hint: messageSizeHint)
            callsTaken += 1
            runtime.take(
                .refused(id, id: .null, RequestFault(code: RequestFault.invalidRequest, failure: failure)))
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
                sessions.log.debug(
                    "\(name): a notification was refused: \(fault.failure.message)", metadata: details)
            case .batchBegins(let count):
                share = max(share, count)
                runtime.take(.batchBegins(id))
            case .batchEnds: runtime.take(.batchEnds(id))
            }
        }
        return share
    }

    /// Takes note of how long the answers of this turn were, for the next turn's share. Falls by steps, so that one
    /// turn of short answers does not open the gate for many long ones.
    func measureAnswers(_ bytes: Int) {
        guard callsTaken > 0 else { return }
        answerSize = max(bytes / callsTaken, answerSize / 4)
        callsTaken = 0
    }
}

extension Request {
    /// The answer may be as large as the graph, or a rule run for it that costs all it may, and is made for this
    /// request alone: one in a turn.
    fileprivate var isHeavy: Bool {
        switch self {
        case .describe, .dump, .explain, .history, .trace, .eval: true
        default: false
        }
    }
}
