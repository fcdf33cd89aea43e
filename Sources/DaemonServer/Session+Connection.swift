import AttributeValues
import EventLoop
import GraphRuntime
import WireProtocol

// Receives and sends bytes. Requests are decoded later, in the turn.
extension Session: ConnectionDelegate {
    /// When this many bytes with complete lines have been received, the client waits for the next turn.
    private static let readAhead = 4 * InputBlock.smallest

    func connectionNeedsMemory(_ connection: Connection) -> UnsafeMutableRawBufferPointer {
        let share = sessions.inputAllowance.share(of: self, moving: input.bytesToMove)
        guard share > 0 else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
        return UnsafeMutableRawBufferPointer(rebasing: input.freeMemory().prefix(share))
    }

    func connection(_ connection: Connection, didRead count: Int) {
        sessions.inputAllowance.use(count)
        input.didFill(count)
        let limits = sessions.limits
        let messageSize = share.messageSize(limits)
        if input.incompleteCount > messageSize {
            refuseLine("a message of more than \(messageSize) bytes", hint: share.messageSizeHint(limits))
        } else if input.incompleteCount > InputBlock.smallest {
            refuseExcess(limits.inputTotal)
        }
        if input.hasLine { sessions.markReady(self) }
        if hasReadAhead { connection.stopReading() }
    }

    /// True if the client has to wait until some of its lines have been taken.
    private var hasReadAhead: Bool { input.hasLine && input.count >= Session.readAhead }

    /// Resumes reading in the next turn.
    func readOn() {
        // After a dropped line, nothing is read before the client has been told of it.
        if !isClosing, !hasEnded, !hasReadAhead, !(input.hasLine && owedFault != nil) { connection.startReading() }
    }

    /// Refuses a large message that all clients together, or those of its user, have no space for.
    private func refuseExcess(_ limit: Int) {
        switch sessions.pool.verdict(on: peer.uid, standing, of: limit) {
        case .fits: break
        case .full:
            refuseLine("too many large messages at once", hint: "the setting input-total is the limit; try again")
        case .beyondShare:
            refuseLine(
                "user \(peer.uid) has too many large messages at once",
                hint: "the rest of input-total is for other users; end some messages, and try again")
        }
    }

    /// Drops the line that is being received, up to its end.
    private func refuseLine(_ message: String, hint: String) {
        input.discardLine()
        owedFault = RequestFault(code: RequestFault.invalidRequest, failure: Failure(.limit, message, hint: hint))
        // Lines after it must not be answered before it.
        if input.hasLine { connection.stopReading() }
        sessions.markReady(self)
    }

    /// Reads the bytes that the kernel still has from before the daemon was told to stop.
    func readRest() {
        var rest = Session.readAhead
        while rest > 0, !hasEnded, !input.isDiscarding, owedFault == nil {
            let count = connection.readNow(into: input.freeMemory())
            if count <= 0 { break }
            self.connection(connection, didRead: count)
            rest -= count
        }
    }

    func connection(_ connection: Connection, didEndReading error: LoopError?) {
        hasEnded = true
        // Disconnecting a client takes about as long as reading this many bytes.
        sessions.inputAllowance.use(InputBlock.smallest)
        if let error {
            sessions.log.debug("\(name): \(error)", metadata: details)
            isBroken = true
        }
        // A line that the client did not finish is not executed.
        input.dropIncomplete()
        sessions.markReady(self)
    }

    func connection(_ connection: Connection, didWrite error: LoopError?) {
        lastProgress = Loop.monotonicTime
        if let error { return breakOff(error) }
        sessions.touch(self)
    }

    func connectionDidClose(_ connection: Connection) {
        input.release()
        sessions.didClose(self)
    }

    /// Called when writing has failed: drops the output. Received requests are still performed.
    private func breakOff(_ error: LoopError) {
        sessions.log.debug("\(name): \(error)", metadata: details)
        isBroken = true
        output.dropAll()
        connection.stopReading()
        hasEnded = true
        input.dropIncomplete()
        sessions.markReady(self)
    }

    /// True if nothing that was said to the client waits, and it has not been written to in the turn that began `now`.
    func isIdle(at now: Double) -> Bool {
        output.isEmpty && !connection.isWriting && !hasEnded && lastProgress != now
    }

    /// Writes messages that are on disk to an idle client.
    /// - Returns: whether the connection has accepted all. If not, the rest waits.
    func write(_ messages: ByteBuffer, at now: Double) -> Bool {
        lastProgress = now
        do throws(LoopError) { return try output.write(messages, to: connection) } catch {
            breakOff(error)
            return false
        }
    }

    /// Writes as much as the connection accepts.
    /// - Returns: the number of bytes.
    func flush(at now: Double) -> Int {
        if isBroken {
            output.dropAll()
            return 0
        }
        do throws(LoopError) {
            let taken = try output.flush(to: connection)
            if taken > 0 || waiting == 0 { lastProgress = now }
            return taken
        } catch {
            breakOff(error)
            return 0
        }
    }
}
