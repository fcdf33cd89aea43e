import AttributeValues

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

    /// A message's fields as JSON, without the brace and the subscription at its beginning. Pages share the bytes.
    struct Encoded {
        let fields: [UInt8]

        init(_ parameters: ValueMap) {
            var map = ValueMap(minimumCapacity: parameters.count)
            for (name, value) in parameters where name != "subscription" { map[name] = value }
            fields = Array(Value.map(map).jsonText.utf8.dropFirst())
        }

        /// The answer's body is `{"error": …}` and the end of the line.
        init(_ refusal: Answer) { fields = Array(refusal.body.dropFirst().dropLast()) }
    }

    /// An event as the bytes of the stream. All pages share long texts without a copy.
    private struct Text {
        var head: [UInt8]
        /// Nil if `head` is all.
        var rest: [UInt8]?

        private static let end = Array("\n\n".utf8)
        /// Bytes that are copied rather than written as a part of their own.
        private static let short = 4096

        init(_ event: String, _ index: Int?, _ encoded: Encoded) {
            let subscription = index.map { "\"subscription\":\($0)," } ?? ""
            head = Array("event: \(event)\ndata: {\(subscription)".utf8)
            if encoded.fields.count > Text.short {
                rest = encoded.fields
            } else {
                head += encoded.fields + Text.end
            }
        }

        var count: Int { head.count + (rest.map { $0.count + Text.end.count } ?? 0) }
        var parts: [[UInt8]] { rest.map { [head, $0, Text.end] } ?? [head] }
        var bytes: [UInt8] { rest.map { head + $0 + Text.end } ?? head }
    }

    /// Events that are still to be compressed: a part of them whenever the page reads and the turn has time.
    private struct Unpacked {
        /// Bytes that are compressed at a time.
        private static let slice = 32 << 10

        private var parts: ArraySlice<[UInt8]> = []
        /// Bytes of the first part that have been compressed.
        private var taken = 0
        private(set) var count = 0

        mutating func add(_ part: [UInt8]) {
            parts.append(part)
            count += part.count
        }

        /// - Returns: the number of bytes, and their compressed form.
        mutating func takeSlice(_ packer: Gzip) -> (count: Int, packed: [UInt8]) {
            guard let part = parts.first else { return (0, []) }
            let end = min(part.count, taken + Unpacked.slice)
            let size = end - taken
            count -= size
            let packed = part[taken..<end].withUnsafeBytes { count > 0 ? packer.begin($0) : packer.add($0) }
            taken = end
            if end == part.count {
                parts.removeFirst()
                // A slice keeps what was removed from it.
                if parts.isEmpty { parts = [] }
                taken = 0
            }
            return (size, packed)
        }
    }

    /// Paths whose new values wait for a slow page. With more, it gets all that has changed since.
    private static let mostPending = 256

    /// A subscription of the page: the position up to which the page has received events, and the waiting ones.
    private struct Place {
        /// Nil if the daemon has refused the subscription.
        var watch: SharedWatch?
        var since: Position?
        var heard: Position?
        /// The subscription is ready, and the page has yet to get its beginning.
        var isBeginning = false
        /// The revision of the first update that waits.
        var pendingFrom: Int64?
        /// The paths of the updates that wait; nil if they are too many.
        var pending: Set<Name>? = []

        var isBehind: Bool { isBeginning || pendingFrom != nil }
    }

    typealias Position = (epoch: String, revision: Int64)

    private let channel: any Channel
    private let machine: any Machine
    private let pace: Pace
    /// The hash of the token with which the page was requested.
    let token: String?
    /// Pays for the stream, and for what waits.
    private let memory: Account
    /// One stream of the principal and the peer.
    private let place: Account
    /// Each event is flushed, so that a page never waits for the next one.
    private let packer: Gzip?
    private var places: [Place] = []
    private var told: Position?
    private var unpacked = Unpacked()
    private var waiting: [[UInt8]] = []
    private var waitingBytes = 0
    /// A later turn goes on with what waits.
    private var isQueued = false
    private(set) var isClosed = false
    /// The time of the last write, in seconds of the gateway's clock.
    private(set) var lastWrite: Double

    init(
        channel: any Channel, isPacked: Bool, token: String?, memory: Account, place: Account, _ pace: Pace,
        _ machine: any Machine
    ) {
        self.channel = channel
        self.machine = machine
        self.pace = pace
        self.token = token
        self.memory = memory
        self.place = place
        packer = isPacked ? Gzip(.fast, isSmall: true) : nil
        lastWrite = machine.now
    }

    /// Bytes that a stream takes when nothing waits.
    static func size(isPacked: Bool) -> Int { Limits.stream + (isPacked ? Limits.packedStream : 0) }

    func begin(_ watches: [(watch: Gateway.Prepared, since: Position?)], hello: ValueMap) {
        guard !isClosed else { return }
        write(Array("retry: \(PageStream.retry)\n".utf8))
        write(Text("hello", nil, Encoded(hello)))
        places = watches.map { Place(watch: try? $0.watch.get(), since: $0.since) }
        for (index, each) in watches.enumerated() where !isClosed {
            switch each.watch {
            case .success(let watch): watch.join(self, at: index)
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
        waiting = []
        unpacked = Unpacked()
    }

    // MARK: Events

    private var mayWrite: Bool { !isClosed && channel.isWritable && unpacked.count == 0 }
    private var isFree: Bool { mayWrite && waiting.isEmpty }

    /// The subscription is ready, for the first time or again. Its beginning may be large, so it waits until the page
    /// has read the others'.
    func begin(_ index: Int) {
        guard !isClosed else { return }
        (places[index].pendingFrom, places[index].pending, places[index].isBeginning) = (nil, [], true)
        if isFree { catchUp(index) }
    }

    /// Sends what waits for the page in one subscription.
    private func catchUp(_ index: Int) {
        guard let watch = places[index].watch, watch.isReady else { return }
        if pace.isSpent { return goOnLater() }
        let position = places[index]
        (places[index].pendingFrom, places[index].pending, places[index].isBeginning) = (nil, [], false)
        if position.isBeginning {
            watch.begin(self, index, since: position.heard ?? position.since)
        } else if let first = position.pendingFrom {
            _ = put("update", index, watch.encodedUpdate(of: position.pending, from: first))
        }
    }

    private func goOnLater() {
        if isQueued { return }
        isQueued = true
        pace.later { [weak self] in
            self?.isQueued = false
            self?.becameWritable()
        }
    }

    /// Sends an event of a beginning, or of what waits.
    /// - Returns: false if there is no space for it. The subscription then begins later, from what the page has heard.
    func put(_ event: String, _ index: Int, _ encoded: Encoded) -> Bool {
        if write(Text(event, index, encoded)) { return true }
        if !isClosed { places[index].isBeginning = true }
        return false
    }

    func send(_ event: String, _ index: Int, _ encoded: Encoded) {
        guard !isClosed else { return }
        if event == "refused" { places[index].isBeginning = false }
        if places[index].isBeginning { return }
        let text = Text(event, index, encoded)
        if isFree, mayWriteNow(), write(text) { return }
        // The next frame has the present values.
        if event == "frames" { return }
        guard waiting.count < PageStream.mostWaiting, pays(for: text.count) else { return end() }
        waiting.append(text.bytes)
        waitingBytes += text.count
    }

    func send(update encoded: Encoded, _ index: Int, _ paths: [String], _ revision: Int64) {
        guard !isClosed, !places[index].isBeginning else { return }
        let text = Text("update", index, encoded)
        if places[index].pendingFrom == nil, isFree, mayWriteNow(), write(text) { return }
        guard !isClosed else { return }
        if places[index].pendingFrom == nil { places[index].pendingFrom = revision }
        guard let pending = places[index].pending else { return }
        if pending.count + paths.count > PageStream.mostPending {
            places[index].pending = nil
        } else {
            places[index].pending?.formUnion(paths.names)
        }
    }

    /// The page has received everything of some subscriptions up to the revision. When this is so for all its
    /// subscriptions, the page gets a position from which it can resume.
    func didHear(_ indices: [Int], _ epoch: String, _ revision: Int64) {
        guard !isClosed, waiting.isEmpty else { return }
        for index in indices where !places[index].isBehind { places[index].heard = (epoch, revision) }
        guard places.allSatisfy({ $0.watch == nil || $0.heard?.epoch == epoch && !$0.isBehind }) else { return }
        let least = places.compactMap(\.heard?.revision).min() ?? revision
        if let told, told.epoch == epoch, told.revision >= least { return }
        told = (epoch, least)
        let text = "id: \(epoch):\(least)\nevent: bookmark\ndata: {\"epoch\":\"\(epoch)\",\"revision\":\(least)}\n\n"
        if pays(for: text.utf8.count) { write(Array(text.utf8)) }
    }

    /// The connection to the daemon was made or lost.
    func tell(isLive: Bool, _ parameters: ValueMap) {
        write(Text(isLive ? "live" : "interrupted", nil, Encoded(parameters)))
    }

    /// Shows the page that the connection works although there are no events.
    func beat(_ parameters: ValueMap) {
        if isFree { write(Text("alive", nil, Encoded(parameters))) }
    }

    /// The page reads again, or there may be space for what waits.
    func becameWritable() {
        pack()
        while mayWrite, let event = waiting.first {
            if pace.isSpent { return goOnLater() }
            waiting.removeFirst()
            waitingBytes -= event.count
            write(event)
        }
        for index in places.indices {
            guard isFree else { return }
            if places[index].isBehind { catchUp(index) }
        }
    }

    // MARK: Writing

    /// False when this turn has no time left.
    private func mayWriteNow() -> Bool {
        if !pace.isSpent { return true }
        goOnLater()
        return false
    }

    /// True if there is memory for more bytes that wait.
    private func pays(for more: Int) -> Bool {
        let size = PageStream.size(isPacked: packer != nil)
        return memory.resize(
            to: max(size, size - Limits.slack + channel.waiting + unpacked.count + waitingBytes + more))
    }

    /// - Returns: false if there is no space.
    @discardableResult private func write(_ text: Text) -> Bool {
        guard !isClosed, pays(for: text.count) else { return false }
        write(text.parts)
        return true
    }

    private func write(_ bytes: [UInt8]) { write([bytes]) }

    private func write(_ parts: [[UInt8]]) {
        guard !isClosed else { return }
        lastWrite = machine.now
        pace.spend(Pace.perWrite)
        if packer == nil {
            for part in parts where !isClosed { channel.write(part) }
        } else {
            for part in parts { unpacked.add(part) }
            pack()
        }
    }

    /// Compresses what waits for that, while the page reads and the turn has time. The page gets complete events.
    private func pack() {
        guard let packer else { return }
        while !isClosed, unpacked.count > 0, channel.isWritable {
            if pace.isSpent { return goOnLater() }
            let (count, packed) = unpacked.takeSlice(packer)
            pace.spend(count * Pace.perBytePacked)
            if !packed.isEmpty { channel.write(packed) }
        }
        // Gives back what the events were charged with.
        if unpacked.count == 0 { _ = pays(for: 0) }
    }

    /// Closes the connection of the page.
    func end() { channel.close() }
}
