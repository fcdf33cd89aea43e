import AttributeValues

/// What the gateway needs of its machine: clocks, timers, and the daemon's socket. Tests have one of their own.
package protocol Machine: AnyObject {
    /// Seconds on the clock on which the daemon places timelines.
    var now: Double { get }
    /// Seconds since 1970.
    var date: Double { get }
    /// Calls once, later, and never inside this call.
    @discardableResult
    func after(_ seconds: Double, _ action: @escaping () -> Void) -> any Alarm
    /// Connects to the daemon's socket.
    /// - Returns: nil if nobody listens there.
    func connect(to path: String, _ delegate: any DaemonLineDelegate) -> (any DaemonLine)?
    /// True if there is a socket, whether somebody listens or not.
    func hasSocket(at path: String) -> Bool
}

/// A call that is to come.
package protocol Alarm: AnyObject {
    func cancel()
}

/// A connection that carries the daemon's messages, one a line. No call of its methods calls the delegate.
package protocol DaemonLine: AnyObject {
    /// - Parameter message: with the end of the line. It must not change after that.
    func send(_ message: ByteBuffer)
    func close()
}

package protocol DaemonLineDelegate: AnyObject {
    /// - Parameter bytes: what comes next, with any number of lines; valid only during the call.
    func line(_ line: any DaemonLine, didRead bytes: UnsafeBufferPointer<UInt8>)
    /// The daemon or `close` has closed the connection. The last call.
    func lineDidClose(_ line: any DaemonLine)
}
