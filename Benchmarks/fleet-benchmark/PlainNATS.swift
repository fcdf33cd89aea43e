import AttributeValues
import CNATS
import Glibc
import TestSupport

/// NATS without the link: acknowledged publishes to a stream of its own, and a reader of the stream.
final class PlainNATS {
    private static let subject = "plain.tx"
    private var connection: OpaquePointer?
    private var context: OpaquePointer?

    /// - Parameter window: publishes without acknowledgment at a time.
    init(_ address: String, window: Int) throws {
        var options: OpaquePointer?
        try PlainNATS.check(natsOptions_Create(&options), "natsOptions_Create")
        defer { natsOptions_Destroy(options) }
        try PlainNATS.check(natsOptions_SetURL(options, address), "natsOptions_SetURL")
        try PlainNATS.check(natsOptions_SetSendAsap(options, true), "natsOptions_SetSendAsap")
        try PlainNATS.check(natsConnection_Connect(&connection, options), "connect to \(address)")
        var requests = jsOptions()
        jsOptions_Init(&requests)
        requests.PublishAsync.MaxPending = Int64(window)
        requests.PublishAsync.StallWait = 5000
        try PlainNATS.check(natsConnection_JetStream(&context, connection, &requests), "natsConnection_JetStream")
        var code = jsErrCode(0)
        if js_GetStreamInfo(nil, context, "PLAIN", nil, &code) == NATS_OK { return }
        let (name, subject) = (strdup("PLAIN"), strdup(PlainNATS.subject))
        defer { for text in [name, subject] { free(text) } }
        var subjects = [subject.map { UnsafePointer($0) }]
        let status = subjects.withUnsafeMutableBufferPointer { subjects in
            var stream = jsStreamConfig()
            jsStreamConfig_Init(&stream)
            stream.Name = UnsafePointer(name)
            stream.Subjects = subjects.baseAddress
            stream.SubjectsLen = 1
            return js_AddStream(nil, context, &stream, nil, &code)
        }
        try PlainNATS.check(status, "js_AddStream")
    }

    deinit {
        jsCtx_Destroy(context)
        natsConnection_Destroy(connection)
    }

    private static func check(_ status: natsStatus, _ call: String) throws {
        if status != NATS_OK { throw Trouble("\(call): \(String(cString: natsStatus_GetText(status)))") }
    }

    private var number = 0

    /// A message with the bytes and the header of one of the link's.
    private func message(_ bytes: [UInt8]) throws -> OpaquePointer? {
        var message: OpaquePointer?
        let status = bytes.withUnsafeBytes {
            natsMsg_Create(
                &message, PlainNATS.subject, nil, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
        }
        try PlainNATS.check(status, "natsMsg_Create")
        number += 1
        try PlainNATS.check(
            natsMsgHeader_Set(message, "Nats-Msg-Id", "\(getpid())-\(UInt(bitPattern: context))-\(number)"),
            "natsMsgHeader_Set")
        return message
    }

    /// Acknowledged publishes in a second.
    /// - Parameter isOneAtATime: each waits for the acknowledgment of the one before.
    func rate(_ bytes: [UInt8], seconds: Double, isOneAtATime: Bool) throws -> Double {
        let start = MonotonicTime.now
        var count = 0
        while MonotonicTime.now < start + seconds {
            var message = try message(bytes)
            if isOneAtATime {
                defer { natsMsg_Destroy(message) }
                try PlainNATS.check(js_PublishMsg(nil, context, message, nil, nil), "js_PublishMsg")
            } else {
                try PlainNATS.check(js_PublishMsgAsync(context, &message, nil), "js_PublishMsgAsync")
            }
            count += 1
        }
        if !isOneAtATime { try PlainNATS.check(js_PublishAsyncComplete(context, nil), "js_PublishAsyncComplete") }
        return Double(count) / (MonotonicTime.now - start)
    }

    /// Seconds from a publish until a reader of the stream has the message, one at a time.
    func waits(_ bytes: [UInt8], count: Int) throws -> [Double] {
        var subscription: OpaquePointer?
        var options = jsSubOptions()
        jsSubOptions_Init(&options)
        options.Ordered = true
        options.Config.DeliverPolicy = js_DeliverNew
        try PlainNATS.check(
            js_SubscribeSync(&subscription, context, PlainNATS.subject, nil, &options, nil), "js_SubscribeSync")
        defer {
            natsSubscription_Unsubscribe(subscription)
            natsSubscription_Destroy(subscription)
        }
        var waits: [Double] = []
        for _ in 0..<count {
            var message = try message(bytes)
            let start = MonotonicTime.now
            try PlainNATS.check(js_PublishMsgAsync(context, &message, nil), "js_PublishMsgAsync")
            var received: OpaquePointer?
            try PlainNATS.check(natsSubscription_NextMsg(&received, subscription, 5000), "natsSubscription_NextMsg")
            waits.append(MonotonicTime.now - start)
            natsMsg_Destroy(received)
        }
        try PlainNATS.check(js_PublishAsyncComplete(context, nil), "js_PublishAsyncComplete")
        return waits
    }

    /// The last message of a stream's subject.
    func last(_ stream: String, _ subject: String) throws -> [UInt8] {
        var message: OpaquePointer?
        try PlainNATS.check(js_GetLastMsg(&message, context, stream, subject, nil, nil), "js_GetLastMsg")
        defer { natsMsg_Destroy(message) }
        return Array(
            UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message))))
    }
}
