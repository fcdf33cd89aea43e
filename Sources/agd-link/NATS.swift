import AttributeValues
import CNATS
import Glibc
import LinkProtocol

struct NATSError: Error, CustomStringConvertible {
    /// With the words of the server, if it has refused the call.
    var call: String
    var status: natsStatus
    var code = jsErrCode(0)

    var description: String {
        let text = status == NATS_ERR ? "" : ": " + String(cString: natsStatus_GetText(status))
        return call + text + (code.rawValue == 0 ? "" : " (\(code.rawValue))")
    }
}

/// A connection to NATS with its JetStream context.
///
/// Threads: an object belongs to one thread, and all calls block that thread for at most `wait`. libnats has threads of
/// its own, which only fill the queues of subscriptions. No code of agd-link runs on them.
///
/// Lifetime: libnats counts references to its connection, so an `Inbox` may outlive it.
final class NATS {
    static let transactions = "AGD_TX"
    static let snapshots = "AGD_SNAP"
    static let heads = "AGD_HEAD"
    private static let leases = "KV_AGD_LEASE"
    /// Maximum seconds of one call, and until an acknowledgment.
    static let patience = 2.0
    private static let wait = Int64(patience * 1000)
    /// Maximum milliseconds that `flush` waits.
    private static let flushTime: Int64 = 5
    /// Milliseconds after which a write to a server that takes nothing fails. Longer than 1 MiB takes on a slow line,
    /// and shorter than `Pulse.patience`.
    private static let writeTime: Int64 = 30_000
    /// Seconds without an answer of JetStream after which a link tries another server. An election of a leader in the
    /// cluster takes up to 10 s. It is chosen at random, so that not all links go at once.
    private static let deafTime = 10.0...20.0

    private let settings: Configuration
    private let isCollecting: Bool
    private let spent = SpentMessages()
    private var connection: OpaquePointer?
    private var context: OpaquePointer?
    /// nil while JetStream answers. Monotonic seconds.
    private var leaveTime: Double?

    /// Returns at once. libnats connects, now and after each loss, with pauses of 0.5 to 1.5 s.
    /// - Parameters:
    ///   - isCollecting: messages wait for `flush`, or for a thread of libnats that sends them after a millisecond.
    ///   - unwanted: the address of a server that is not wanted, unless the settings name no other.
    init(_ settings: Configuration, isCollecting: Bool = false, leaving unwanted: String? = nil) throws(NATSError) {
        self.settings = settings
        self.isCollecting = isCollecting
        var options: OpaquePointer?
        try NATS.check(natsOptions_Create(&options), "natsOptions_Create")
        defer { natsOptions_Destroy(options) }
        let others = settings.servers.filter { server in unwanted.map { !server.hasSuffix($0) } ?? true }
        try NATS.check(NATS.set(servers: others.isEmpty ? settings.servers : others, options), "the setting 'nats'")
        natsOptions_SetName(options, "agd-link")
        natsOptions_SetSendAsap(options, !isCollecting)
        natsOptions_SetMaxReconnect(options, -1)
        natsOptions_SetReconnectWait(options, 500)
        natsOptions_SetReconnectJitter(options, 1000, 1000)
        natsOptions_SetPingInterval(options, 5000)
        natsOptions_SetWriteDeadline(options, NATS.writeTime)
        natsOptions_SetTimeout(options, NATS.wait)
        natsOptions_SetRetryOnFailedConnect(options, true, { _, _ in }, nil)
        // Without a handler libnats writes errors to standard error. Subscriptions return theirs to their reader.
        natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil)
        if let file = settings.credentials {
            try NATS.check(natsOptions_SetUserCredentialsFromFiles(options, file, nil), "the setting 'credentials'")
        }
        if let key = settings.nkey {
            try NATS.check(natsOptions_SetNKeyFromSeed(options, key.publicKey, key.seedFile), "the setting 'nkey'")
        }
        if let file = settings.authorities {
            try NATS.check(natsOptions_SetSecure(options, true), "the setting 'tls-ca'")
            try NATS.check(natsOptions_LoadCATrustedCertificates(options, file), "the setting 'tls-ca'")
        }
        if let file = settings.certificate {
            try NATS.check(natsOptions_SetSecure(options, true), "the setting 'tls-cert'")
            try NATS.check(
                natsOptions_LoadCertificatesChain(options, file, settings.certificateKey), "the setting 'tls-cert'")
        }
        let status = natsConnection_Connect(&connection, options)
        if status != NATS_NOT_YET_CONNECTED { try NATS.check(status, "connect") }
        var requests = jsOptions()
        jsOptions_Init(&requests)
        requests.Wait = NATS.wait
        let made = self.requests.withCString { prefix in
            requests.Prefix = prefix
            return natsConnection_JetStream(&context, connection, &requests)
        }
        try NATS.check(made, "natsConnection_JetStream")
    }

    deinit {
        jsCtx_Destroy(context)
        natsConnection_Destroy(connection)
    }

    var isConnected: Bool { natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED }

    /// True if JetStream has not answered for a while. The server may be cut off from its cluster; another may answer.
    var isDeaf: Bool {
        if !isConnected { leaveTime = nil }
        return leaveTime.map { MonotonicTime.now > $0 } ?? false
    }

    /// A new connection for one that is deaf or closed, if possible to another server; nil if there can be none now.
    func successor(_ log: inout Log) -> NATS? {
        guard let other = try? NATS(settings, isCollecting: isCollecting, leaving: address) else { return nil }
        if let address {
            let next = settings.servers.count > 1 ? "trying another server" : "connecting again"
            log.report("server", "JetStream does not answer at \(address); \(next)")
        }
        return other
    }

    /// The host and the port of the server.
    private var address: String? {
        var url = [CChar](repeating: 0, count: 4096)
        guard natsConnection_GetConnectedUrl(connection, &url, url.count) == NATS_OK else { return nil }
        return NATS.address(String(decoding: url.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The host and the port of an address. The rest may have a password, which no log gets.
    static func address(_ url: String) -> String {
        let rest = url.split(separator: "/" as Character).last ?? ""
        return String(rest.split(separator: "@" as Character).last ?? rest)
    }

    /// Says whether there is a connection, once for each change.
    func report(_ log: inout Log) {
        if isConnected {
            log.report("connection", "connected to NATS at \(address ?? "?")", .info)
        } else if !isClosed {
            let servers = settings.servers.map(NATS.address).joined(separator: ", ")
            log.report("connection", "no connection to NATS at \(servers); trying again")
        }
    }

    /// True if libnats has given up, which it does when each server has refused the credentials twice.
    var isClosed: Bool { natsConnection_Status(connection) == NATS_CONN_STATUS_CLOSED }

    /// The text of an error. The server does not answer a request without a right, so the call times out, and only the
    /// connection knows the reason.
    func describe(_ error: NATSError) -> String {
        if isClosed { return "the server refuses the credentials of agd-link" }
        if error.status == NATS_NO_RESPONDERS || error.code == JSNotEnabledErr
            || error.code == JSNotEnabledForAccountErr
        {
            return "\(error.call): no server of NATS offers JetStream to this link; start nats-server with -js, and "
                + "let the link's account have JetStream or import this subject"
        }
        if error.code == JSStreamNotFoundErr { return "\(error); no link has published through this NATS yet" }
        var text: UnsafePointer<CChar>?
        guard error.status == NATS_TIMEOUT, natsConnection_GetLastError(connection, &text) == NATS_NOT_PERMITTED,
            let text
        else { return "\(error)" }
        return "\(error): \(String(cString: text))"
    }

    /// The beginning of the subjects of requests to JetStream.
    var requests: String { settings.domain.map { "$JS.\($0).API" } ?? "$JS.API" }

    /// Maximum bytes of one message.
    var maximumPayload: Int { Int(natsConnection_GetMaxPayload(connection)) }

    static func check(_ status: natsStatus, _ call: String, _ code: jsErrCode = jsErrCode(0)) throws(NATSError) {
        if status != NATS_OK { throw NATSError(call: call, status: status, code: code) }
    }

    /// Checks a call that JetStream answers.
    func check(_ status: natsStatus, _ call: String, _ code: jsErrCode = jsErrCode(0)) throws(NATSError) {
        if status == NATS_TIMEOUT || status == NATS_NO_RESPONDERS || code == JSClusterNotAvailErr {
            leaveTime = leaveTime ?? MonotonicTime.now + .random(in: NATS.deafTime)
        } else {
            leaveTime = nil
        }
        try NATS.check(status, call, code)
    }

    private static func set(servers: [String], _ options: OpaquePointer?) -> natsStatus {
        let texts = servers.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var pointers = texts.map { UnsafePointer($0) }
        return natsOptions_SetServers(options, &pointers, Int32(servers.count))
    }
}

// Streams and messages.
extension NATS {
    /// Creates the streams, unless they exist. No stream allows roll-ups, with which a message may delete those of all
    /// other sites.
    func makeStreams() throws(NATSError) {
        try makeStream(NATS.transactions, ["agd.tx.>"], age: settings.historyTime)
        try makeStream(NATS.snapshots, ["agd.snap.>"], messagesPerSubject: 1)
        try makeStream(NATS.heads, ["agd.head.>"], messagesPerSubject: 1)
    }

    private func makeStream(
        _ name: String, _ subjects: [String], age: Double = 0, messagesPerSubject: Int64 = -1
    ) throws(NATSError) {
        var code = jsErrCode(0)
        var info: UnsafeMutablePointer<jsStreamInfo>?
        let found = js_GetStreamInfo(&info, context, name, nil, &code)
        // A server that is cut off from its cluster gives this answer, too: it says nothing about `isDeaf`.
        defer { jsStreamInfo_Destroy(info) }
        if found != NATS_OK, found != NATS_NOT_FOUND { try check(found, "find the stream \(name)", code) }
        let present = info?.pointee.Config?.pointee
        if let present, !present.AllowRollup, Int(present.SubjectsLen) == subjects.count,
            messagesPerSubject < 0 || present.MaxMsgsPerSubject == messagesPerSubject
        {
            return
        }
        let texts = ([name] + subjects).map { strdup($0) }
        defer { for text in texts { free(text) } }
        var pointers = texts.dropFirst().map { UnsafePointer($0) }
        let status = pointers.withUnsafeMutableBufferPointer { pointers in
            var stream = jsStreamConfig()
            jsStreamConfig_Init(&stream)
            stream.MaxAge = Int64(age * 1e9)
            stream.Replicas = Int64(settings.replicas)
            stream.MaxMsgsPerSubject = messagesPerSubject
            // The settings of an administrator remain.
            if let present { stream = present }
            stream.Name = UnsafePointer(texts[0])
            stream.Subjects = pointers.baseAddress
            stream.SubjectsLen = Int32(pointers.count)
            if messagesPerSubject > 0 { stream.MaxMsgsPerSubject = messagesPerSubject }
            stream.AllowRollup = false
            return present == nil
                ? js_AddStream(nil, context, &stream, nil, &code) : js_UpdateStream(nil, context, &stream, nil, &code)
        }
        if present != nil {
            return try check(
                status,
                "change the stream \(name), which somebody has made with other subjects, limits or roll-ups; "
                    + "start agd-link once with a user of NATS that may do so", code)
        }
        // Another link may have made it meanwhile.
        if code == JSStreamNameExistErr { return }
        try check(status, "create the stream \(name)", code)
    }

    /// - Parameter header: one header of the message.
    /// - Returns: the message's sequence in its stream.
    @discardableResult
    func publish(
        _ subject: String, _ bytes: [UInt8], header: (name: String, value: String)? = nil
    ) throws(NATSError) -> UInt64 {
        let message = try NATS.message(subject, bytes, header)
        defer { natsMsg_Destroy(message) }
        var answer: UnsafeMutablePointer<jsPubAck>?
        var code = jsErrCode(0)
        try check(js_PublishMsg(&answer, context, message, nil, &code), "publish to \(subject)", code)
        defer { jsPubAck_Destroy(answer) }
        return answer?.pointee.Sequence ?? 0
    }

    /// Sends a message without waiting.
    /// - Parameter reply: the subject of the answer. A stream that keeps the message acknowledges it there.
    func send(
        _ subject: String, _ bytes: [UInt8], header: (name: String, value: String)? = nil, replyTo reply: String? = nil
    ) throws(NATSError) {
        let message = try NATS.message(subject, bytes, header, replyTo: reply)
        spent.add(message)
        try NATS.check(natsConnection_PublishMsg(connection, message), "publish to \(subject)")
    }

    /// Sends what was collected, and waits a moment until the server has read it. More is collected meanwhile, so that
    /// a busy link needs few system calls.
    func flush() {
        natsConnection_FlushTimeout(connection, NATS.flushTime)
        spent.free()
    }

    private static func message(
        _ subject: String, _ bytes: [UInt8], _ header: (name: String, value: String)?, replyTo reply: String? = nil
    ) throws(NATSError) -> OpaquePointer? {
        var message: OpaquePointer?
        let made = bytes.withUnsafeBytes { bytes in
            natsMsg_Create(
                &message, subject, reply, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        try check(made, "natsMsg_Create")
        if let header {
            let status = natsMsgHeader_Set(message, header.name, header.value)
            if status != NATS_OK { natsMsg_Destroy(message) }
            try check(status, "natsMsgHeader_Set")
        }
        return message
    }

    /// A fresh subject for replies.
    func newInbox() throws(NATSError) -> String {
        var text: UnsafeMutablePointer<CChar>?
        try NATS.check(natsInbox_Create(&text), "natsInbox_Create")
        defer { natsInbox_Destroy(text) }
        return text.map { String(cString: $0) } ?? ""
    }

    /// - Returns: nil if the stream has no message of the subject.
    func readLast(_ stream: String, _ subject: String) throws(NATSError) -> (sequence: UInt64, bytes: [UInt8])? {
        var message: OpaquePointer?
        var code = jsErrCode(0)
        let status = js_GetLastMsg(&message, context, stream, subject, nil, &code)
        if status == NATS_NOT_FOUND {
            leaveTime = nil
            return nil
        }
        try check(status, "read \(subject)", code)
        defer { natsMsg_Destroy(message) }
        return (natsMsg_GetSequence(message), NATS.readBytes(of: message))
    }

    /// Asks a stream to delete what it has of a subject, and does not wait.
    func discard(_ stream: String, _ subject: String) throws(NATSError) {
        let filter: Value = ["filter": .string(subject)]
        try send("\(requests).STREAM.PURGE.\(stream)", Array(filter.jsonText.utf8), replyTo: try newInbox())
    }

    static func readBytes(of message: OpaquePointer?) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message))))
    }
}

// Subscriptions.
extension NATS {
    /// Receives messages as they are published, whether a stream keeps them or not.
    func listen(_ subject: String) throws(NATSError) -> Inbox {
        var subscription: OpaquePointer?
        try NATS.check(natsConnection_SubscribeSync(&subscription, connection, subject), "subscribe to \(subject)")
        return Inbox(subscription, spent)
    }
}

// Leases: a bucket, whose keys are the subjects of its stream.
extension NATS {
    private func leaseSubject(_ key: String) -> String { "$KV.AGD_LEASE.\(key)" }

    /// Creates the bucket, unless it exists.
    func makeLeases() throws(NATSError) {
        try makeStream(NATS.leases, [leaseSubject(">")], age: settings.leaseTime, messagesPerSubject: 1)
    }

    /// When the bucket was made: microseconds since 1970.
    func leasesCreated() throws(NATSError) -> UInt64 {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        try check(js_GetStreamInfo(&info, context, NATS.leases, nil, &code), "describe the bucket of leases", code)
        defer { jsStreamInfo_Destroy(info) }
        return UInt64(clamping: (info?.pointee.Created ?? 0) / 1000)
    }

    func lease(of site: SiteName) throws(NATSError) -> (holder: String, revision: UInt64)? {
        // Not `kvStore_Get`: any server answers that, also one that is behind the others.
        guard let last = try readLast(NATS.leases, leaseSubject(site.tokens)) else { return nil }
        return (String(decoding: last.bytes, as: UTF8.self), last.sequence)
    }

    /// Writes a lease by compare-and-set.
    /// - Parameter last: the revision that the lease must have; nil if there must be none.
    /// - Returns: the new revision.
    func writeLease(of site: SiteName, _ holder: String, last: UInt64?) throws(NATSError) -> UInt64 {
        let expected = ("Nats-Expected-Last-Subject-Sequence", "\(last ?? 0)")
        return try publish(leaseSubject(site.tokens), Array(holder.utf8), header: expected)
    }
}
