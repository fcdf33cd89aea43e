import AGClient
import AttributeValues
import CMosquitto
import Glibc
import Synchronization

/// A connection to a broker of MQTT. libmosquitto looks up names and makes connections in calls that wait, so it has a
/// thread of its own, which only passes messages on.
final class Broker: Sendable {
    struct Message: Sendable {
        var topic: String
        var payload: [UInt8]
        var isRetained: Bool
    }

    /// What has come since the last look.
    struct News {
        var messages: [Message] = []
        /// Messages that the full queue has dropped.
        var dropped = 0
        var isConnected = false
        /// Counts connections.
        var connections = 0
        var error: String?
    }

    private struct State {
        var news = News()
        var bytes = 0
        /// Messages that were given to libmosquitto and that it has not written yet.
        var underWay = 0
    }

    /// Messages, and bytes of them, that wait for the main loop.
    private static let mostMessages = 10_000
    private static let mostBytes = 16 << 20
    /// Messages that wait for the broker. The others wait in their outlets, where newer values replace them.
    static let window = 500
    /// Seconds.
    private static let keepAlive: Int32 = 30
    private static let step: Int32 = 500

    private let address: BrokerAddress
    private let state = Mutex(State())
    private let stop: Wakeup
    /// Readable when there are news.
    let wakeup: Wakeup
    /// Its functions may be called by several threads.
    nonisolated(unsafe) private let client: OpaquePointer

    /// - Parameter will: the topic that the broker sets to `offline` when this connection is lost.
    /// - Throws: `system`.
    init(_ address: BrokerAddress, authorities: String?, will: String?) throws(ClientError) {
        self.address = address
        wakeup = try Wakeup()
        stop = try Wakeup()
        mosquitto_lib_init()
        guard let made = mosquitto_new(nil, true, nil) else { throw .system(call: "mosquitto_new", errno: errno) }
        client = made
        mosquitto_user_data_set(made, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_threaded_set(made, true)
        if let user = address.user { mosquitto_username_pw_set(made, user, address.password) }
        if let will { mosquitto_will_set(made, will, 7, "offline", 1, true) }
        if address.hasTLS {
            let code = mosquitto_tls_set(made, authorities, authorities == nil ? "/etc/ssl/certs" : nil, nil, nil, nil)
            guard code == 0 else { throw .system(call: "mosquitto_tls_set", errno: EINVAL) }
        }
        mosquitto_connect_callback_set(made) { _, owner, code in
            Broker.owner(owner)?.connected(code)
        }
        mosquitto_message_callback_set(made) { _, owner, message in
            guard let message = message?.pointee, let topic = message.topic else { return }
            let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            Broker.owner(owner)?.received(
                Message(topic: String(cString: topic), payload: Array(payload), isRetained: message.retain))
        }
        mosquitto_publish_callback_set(made) { _, owner, _ in
            guard let broker = Broker.owner(owner) else { return }
            let mayGoOn = broker.state.withLock { state in
                state.underWay = max(0, state.underWay - 1)
                return state.underWay == Broker.window / 2
            }
            if mayGoOn { broker.wakeup.signal() }
        }
    }

    private static func owner(_ pointer: UnsafeMutableRawPointer?) -> Broker? {
        pointer.map { Unmanaged<Broker>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs until `end`. The thread keeps the broker alive.
    func start() throws(ClientError) { try Worker.start { self.run() } }

    private func run() {
        var backoff = Backoff(first: 0.5, longest: 30)
        var isFirst = true
        while !stop.isSignalled {
            var code =
                isFirst
                ? mosquitto_connect(client, address.host, address.port, Broker.keepAlive) : mosquitto_reconnect(client)
            isFirst = false
            let begin = MonotonicTime.now
            while code == MOSQ_ERR_SUCCESS.rawValue, !stop.isSignalled {
                code = Int32(mosquitto_loop(client, Broker.step, 1))
            }
            if stop.isSignalled { break }
            lost(
                code == MOSQ_ERR_ERRNO.rawValue
                    ? String(cString: strerror(errno)) : String(cString: mosquitto_strerror(code)))
            if MonotonicTime.now - begin > 10 { backoff.reset() }
            stop.wait(backoff.pause() * .random(in: 0.5...1.5))
        }
        // Without a farewell, so that the broker performs the will.
    }

    func end() { stop.signal() }

    // MARK: In the thread

    private func connected(_ code: Int32) {
        state.withLock { state in
            state.underWay = 0
            state.news.isConnected = code == 0
            if code == 0 {
                state.news.connections += 1
                state.news.error = nil
            } else {
                state.news.error = "\(address.shown): " + String(cString: mosquitto_connack_string(code))
            }
        }
        wakeup.signal()
    }

    private func lost(_ reason: String) {
        state.withLock { state in
            // The broker's own words say more than that it has closed the connection.
            if state.news.isConnected || state.news.error == nil { state.news.error = "\(address.shown): \(reason)" }
            state.news.isConnected = false
        }
        wakeup.signal()
    }

    private func received(_ message: Message) {
        state.withLock { state in
            guard state.news.messages.count < Broker.mostMessages,
                state.bytes + message.payload.count <= Broker.mostBytes
            else {
                state.news.dropped += 1
                return
            }
            state.bytes += message.payload.count
            state.news.messages.append(message)
        }
        wakeup.signal()
    }

    // MARK: In the main loop

    func takeNews() -> News {
        wakeup.clear()
        return state.withLock { state in
            let news = state.news
            state.news.messages = []
            state.news.dropped = 0
            state.bytes = 0
            return news
        }
    }

    func subscribe(_ filter: String) { mosquitto_subscribe(client, nil, filter, 1) }

    /// - Returns: false if the queue of the broker is full, or it is away. Then nothing was sent.
    func publish(_ topic: String, _ payload: String) -> Bool {
        let hasSpace = state.withLock { state in
            guard state.news.isConnected, state.underWay < Broker.window else { return false }
            state.underWay += 1
            return true
        }
        guard hasSpace else { return false }
        let count = Int32(payload.utf8.count)
        let code = mosquitto_publish(client, nil, topic, count, payload, 0, true)
        // A message that the broker never takes is not tried again.
        if code == MOSQ_ERR_SUCCESS.rawValue { return true }
        state.withLock { $0.underWay = max(0, $0.underWay - 1) }
        return code != MOSQ_ERR_NO_CONN.rawValue && code != MOSQ_ERR_CONN_LOST.rawValue
    }
}
