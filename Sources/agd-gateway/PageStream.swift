import AttributeValues
import NIOCore
import NIOHTTP1

/// The stream of one page: server-sent events of all its subscriptions, in one answer that does not end.
///
/// A page that reads slowly does not slow down others: while it does not read, only the newest value of each path waits
/// for it.
final class PageStream {
    /// Maximum number of waiting events, not counting updates. If there would be more, the stream of the slow page is
    /// closed. The page begins anew when it reconnects.
    static let mostWaiting = 1000
    /// Milliseconds after which a browser reconnects to a stream that broke off.
    private static let retry = 500

    /// A message's fields as JSON, without the brace and the subscription at its beginning.
    struct Encoded {
        let fields: String

        init(_ parameters: ValueMap) {
            var map = ValueMap(minimumCapacity: parameters.count)
            for (name, value) in parameters where name != "subscription" { map[name] = value }
            fields = String(Value.map(map).jsonText.dropFirst())
        }

        /// The answer's body is `{"error": …}` and the end of the line.
        init(_ refusal: Answer) {
            fields = String(decoding: refusal.body.dropFirst().dropLast(), as: UTF8.self)
        }
    }

    /// For the subscription at each index: the position up to which the page has received events, and the waiting ones.
    private struct Place {
        /// Nil if the daemon has refused the subscription.
        var watch: SharedWatch?
        var since: (epoch: String, revision: Int64)?
        var heard: (epoch: String, revision: Int64)?
        var pending: Set<Name> = []
        var pendingFrom: Int64 = 0
    }

    private let channel: Channel
    /// Each event is flushed, so that a page never waits for the next one.
    private let packer: Gzip?
    private var places: [Place] = []
    private var told: (epoch: String, revision: Int64)?
    private var waiting: [NIOCore.ByteBuffer] = []
    private(set) var isClosed = false
    /// The time of the last write, in seconds of the gateway's clock.
    private(set) var lastWrite: Double

    init(channel: Channel, isPacked: Bool, at now: Double) {
        self.channel = channel
        packer = isPacked ? Gzip(.fast, isSmall: true) : nil
        lastWrite = now
    }

    func begin(_ watches: [(watch: Gateway.Prepared, since: (epoch: String, revision: Int64)?)], hello: ValueMap) {
        write("retry: \(PageStream.retry)\n" + PageStream.text("hello", "{" + Encoded(hello).fields))
        places = watches.map { Place(watch: try? $0.watch.get(), since: $0.since) }
        for (index, each) in watches.enumerated() {
            switch each.watch {
            case .success(let watch): watch.join(self, at: index, since: each.since)
            case .failure(let refusal): send("refused", index, Encoded(refusal))
            }
        }
    }

    /// The page has disconnected.
    func close(at now: Double) {
        guard !isClosed else { return }
        isClosed = true
        for (index, place) in places.enumerated() { place.watch?.leave(self, at: index, at: now) }
        places = []
    }

    /// The position from which the page continues when its subscription begins again.
    func position(of index: Int) -> (epoch: String, revision: Int64)? { places[index].heard ?? places[index].since }

    // MARK: Events

    func send(_ event: String, _ index: Int, _ parameters: ValueMap) { send(event, index, Encoded(parameters)) }

    func send(_ event: String, _ index: Int, _ encoded: Encoded) {
        let text = PageStream.text(event, "{\"subscription\":\(index),\(encoded.fields)")
        if channel.isWritable, waiting.isEmpty { return write(text) }
        // The next frame has the present values.
        if event == "frames" { return }
        guard waiting.count < PageStream.mostWaiting else { return end() }
        waiting.append(NIOCore.ByteBuffer(string: text))
    }

    func send(update encoded: Encoded, _ index: Int, _ paths: [String], _ revision: Int64) {
        guard channel.isWritable, waiting.isEmpty else {
            if places[index].pending.isEmpty { places[index].pendingFrom = revision }
            places[index].pending.formUnion(paths.names)
            return
        }
        send("update", index, encoded)
    }

    /// The page has received everything of a subscription up to the revision. When this holds for all its
    /// subscriptions, the page gets a position from which it can resume.
    func didHear(_ index: Int, _ epoch: String, _ revision: Int64) {
        places[index].heard = (epoch, revision)
        guard waiting.isEmpty, places.allSatisfy({ $0.watch == nil || $0.heard?.epoch == epoch && $0.pending.isEmpty })
        else { return }
        let least = places.compactMap(\.heard?.revision).min() ?? revision
        if let told, told.epoch == epoch, told.revision >= least { return }
        told = (epoch, least)
        write("id: \(epoch):\(least)\nevent: bookmark\ndata: {\"epoch\":\"\(epoch)\",\"revision\":\(least)}\n\n")
    }

    /// The connection to the daemon was made or lost.
    func tell(isLive: Bool, _ parameters: ValueMap) {
        write(PageStream.text(isLive ? "live" : "interrupted", "{" + Encoded(parameters).fields))
    }

    /// Shows the page that the connection works although there are no events.
    func beat(_ parameters: ValueMap) {
        if channel.isWritable { write(PageStream.text("alive", "{" + Encoded(parameters).fields)) }
    }

    /// The page reads again.
    func becameWritable() {
        let events = waiting
        waiting = []
        for event in events { write(event) }
        for index in places.indices where !places[index].pending.isEmpty {
            let place = places[index]
            places[index].pending = []
            guard let watch = place.watch else { continue }
            send("update", index, watch.update(of: place.pending, from: place.pendingFrom))
        }
    }

    // MARK: Writing

    private static func text(_ event: String, _ data: String) -> String { "event: \(event)\ndata: \(data)\n\n" }

    private func write(_ text: String) { write(NIOCore.ByteBuffer(string: text)) }

    private func write(_ bytes: NIOCore.ByteBuffer) {
        guard !isClosed else { return }
        lastWrite = MonotonicTime.now
        let sent = packer.map { packer in NIOCore.ByteBuffer(bytes: bytes.withUnsafeReadableBytes { packer.add($0) }) }
        channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(sent ?? bytes)), promise: nil)
    }

    /// Closes the connection of the page.
    func end() { channel.close(promise: nil) }
}
