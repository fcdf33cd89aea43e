import AGClient
import AttributeValues
import LinkProtocol

/// Publishes one subtree of the daemon. It runs on a thread of its own.
///
/// It always reads the daemon, whether NATS takes messages or not.
final class Publisher {
    /// NATS gets the transactions of a round together. Each has an update, and some have a bookmark.
    private static let eventsPerRound = 128

    private let settings: Configuration
    private let site: SiteName
    private let stop: Wakeup
    private let reader: SiteReader
    private let pulse: Pulse
    private let writer: SiteWriter
    private var principals: PrincipalConnections
    private var log: Log

    init(
        _ publication: Configuration.Publication, _ settings: Configuration, holder: String, stop: Wakeup, pulse: Pulse
    ) throws(NATSError) {
        self.settings = settings
        self.stop = stop
        self.pulse = pulse
        site = publication.site
        reader = SiteReader(root: publication.nodes)
        writer = try SiteWriter(site, reader, settings, holder: holder, pulse: pulse)
        principals = PrincipalConnections(settings)
        log = Log(subject: "\(site)")
        reader.onChanges = { [unowned writer] changes in writer.add(changes) }
    }

    func run() {
        var pause = Backoff()
        // A refusal stays until somebody changes the site or a setting, and to read a large site costs the daemon much.
        var longPause = Backoff(first: 1, longest: 30)
        while !stop.isSignalled {
            do throws(ClientError) {
                try publish()
                pause.reset()
            } catch {
                log.report("daemon", "cannot read \(AttributePath.describe(nodes: reader.root))/**: \(error.told)")
                if reader.isSubscribed { longPause.reset() }
                reader.isSubscribed = false
                let end = MonotonicTime.now + (error.failure == nil ? pause.pause() : longPause.pause())
                while MonotonicTime.now < end, !stop.isSignalled {
                    writer.serve()
                    stop.wait(0.1)
                }
            }
        }
        writer.release()
    }

    /// Reads one connection to the daemon until it is lost or the program ends.
    private func publish() throws(ClientError) {
        let connection = try settings.connect(as: "agd-link \(site)", pulse) { [unowned writer] in writer.serve() }
        let epoch = reader.epoch
        try reader.subscribe(connection)
        if reader.epoch != epoch { writer.endTerm() }
        try reader.readAll(connection)
        reader.isSubscribed = true
        log.report(
            "daemon", "reading \(AttributePath.describe(nodes: reader.root)) from revision \(reader.revision)", .info)
        while !stop.isSignalled {
            try reader.receive(
                connection, atMost: Publisher.eventsPerRound,
                // Only acknowledgments make space for pending changes.
                patience: writer.hasPending ? 0.001 : 0.01, interrupt: stop.descriptor)
            try reader.probe(connection, patience: settings.liveTime)
            writer.serve()
            try performWrites(connection)
        }
    }

    /// Performs the writes of other sites, and answers each when its changes have been published.
    private func performWrites(_ connection: Connection) throws(ClientError) {
        var isAnswered = false
        defer { if isAnswered { writer.flush() } }
        while let (call, sender) = writer.nextWrite() {
            isAnswered = true
            let result = perform(call)
            if case .success = result { try reader.catchUp(connection) }
            writer.answer(sender, result)
        }
    }

    private func perform(_ message: [UInt8]) -> Result<ValueMap, Failure> {
        do throws(Failure) {
            return principals.perform(try ForwardedCall(json: message), below: reader.root)
        } catch { return .failure(error) }
    }
}
