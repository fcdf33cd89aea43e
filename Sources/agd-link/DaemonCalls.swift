import AGClient

// Calls to the daemon. A request for a large site may take longer than a daemon that hangs is waited for, so a call goes
// on while the daemon answers others.

extension Configuration {
    /// Seconds that a call waits at most, unless the daemon works.
    var callTime: Double { max(5, liveTime) }

    /// Seconds that a call waits at most for a daemon that works.
    private static let longestCall = 60.0

    /// - Parameters:
    ///   - pulse: shows that the thread runs while a call waits.
    ///   - meanwhile: called now and then while a call waits.
    func connect(
        as name: String, _ pulse: Pulse, meanwhile: @escaping () -> Void = {}
    ) throws(ClientError) -> Connection {
        let connection = try Connection(to: .find(socket), name: name, typed: true, timeout: callTime)
        connection.goesOnWaiting = { waited in
            pulse.beat()
            meanwhile()
            defer { pulse.beat() }
            return waited < Configuration.longestCall && isDaemonWorking
        }
        return connection
    }

    /// True if the daemon answers another connection. It may be in the middle of a long read, which is one turn.
    private var isDaemonWorking: Bool {
        do throws(ClientError) {
            _ = try Connection(to: .find(socket), timeout: callTime).call(.ping)
            return true
        } catch { return false }
    }
}
