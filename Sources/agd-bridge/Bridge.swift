import AGClient
import AttributeValues
import CCurl
import CommandArguments
import Glibc
import WireProtocol

/// All lines of the configuration, in one loop that waits in one place.
final class Bridge {
    private let settings: Configuration
    private let signals: Signals
    private let transfers: Transfers
    private let graph: Graph
    private var webSources: [WebSource] = []
    private var runs: [RunSource] = []
    private var couriers: [Courier] = []
    private var broker: Broker?
    private var inlets: [Inlet] = []
    private var outlets: [Outlet] = []
    /// The feeds of inlets. They are live while the broker is.
    private var brokerFeeds: [Feed] = []
    /// The topic that is `online` while the bridge is there; the broker sets it to `offline` afterwards.
    private let availability: String?
    private var connections = 0
    private var isBrokerConnected = false
    private var brokerError: String?
    private var dropped = 0
    private var nextMetrics = 0.0
    private var log = Log(subject: "agd-bridge")

    init(_ settings: Configuration, signals: Signals) throws(ClientError) {
        self.settings = settings
        self.signals = signals
        guard let transfers = Transfers() else { throw .system(call: "curl_multi_init", errno: ENOMEM) }
        self.transfers = transfers
        let now = MonotonicTime.now
        var feeds: [Feed] = []
        func feed(_ line: String, _ target: Configuration.Target) -> Feed {
            let made = Feed(line, target.nodes)
            feeds.append(made)
            return made
        }
        func transfer(_ url: String, _ header: String) throws(ClientError) -> Transfer {
            let made = Transfer(url, header: header, time: settings.answerTime, limit: settings.answerSize, transfers)
            guard let made else { throw .system(call: "curl_easy_init", errno: ENOMEM) }
            return made
        }
        for scrape in settings.scrapes {
            webSources.append(
                ScrapeSource(
                    scrape, settings, feed("scrape \(scrape.target)", scrape.target),
                    try transfer(scrape.url, "Accept: \(ScrapeSource.accepted)"), now))
        }
        for poll in settings.polls {
            webSources.append(
                PollSource(
                    poll, feed("poll \(poll.target)", poll.target),
                    try transfer(poll.url, "Accept: application/json"), now))
        }
        for run in settings.runs {
            runs.append(RunSource(run, settings, feed("run \(run.target)", run.target), now))
        }
        for inlet in settings.inlets {
            let known = brokerFeeds.first { $0.nodes == inlet.target.nodes }
            let feed = known ?? feed("from-mqtt \(inlet.target)", inlet.target)
            if known == nil { brokerFeeds.append(feed) }
            inlets.append(Inlet(inlet, settings, feed))
        }
        graph = Graph(feeds, socket: settings.socket)
        for line in settings.alerts {
            let transfer = try line.receiver.url.map { (url) throws(ClientError) in
                try transfer(url, "Content-Type: application/json")
            }
            couriers.append(Courier(line, settings, graph, transfer))
        }
        availability = settings.outlets.first.map { $0.prefix + "/availability" }
        if let address = settings.broker, !settings.inlets.isEmpty || !settings.outlets.isEmpty {
            let broker = try Broker(
                address, authorities: settings.authorities,
                will: availability)
            self.broker = broker
            for outlet in settings.outlets {
                outlets.append(Outlet(outlet, settings, availability: availability ?? "", graph, broker))
            }
        }
        graph.didConnect = { [unowned self] in
            for outlet in outlets { outlet.subscribe() }
            for courier in couriers { courier.subscribe() }
            // The broker repeats what it has retained.
            if isBrokerConnected { subscribe() }
        }
        graph.didReceive = { [unowned self] number, event in
            for outlet in outlets { outlet.receive(number, event) }
            for courier in couriers { courier.receive(number, event) }
        }
    }

    /// Runs until it is told to stop.
    func run() throws(ClientError) {
        try broker?.start()
        let manager = ServiceManager { getenv($0).map { String(cString: $0) } }
        for name in ServiceManager.variables { unsetenv(name) }
        manager.ready("lines: \(graph.feeds.count + outlets.count + couriers.count)")
        let interval = min(manager.watchdogInterval ?? 60, 60)
        while !signals.wakeup.isSignalled {
            let now = MonotonicTime.now
            transfers.work()
            for source in webSources { source.work(now) }
            for source in runs { source.work(now) }
            takeNews()
            for courier in couriers { courier.work(now) }
            graph.work(now)
            if let file = settings.metrics, now >= nextMetrics { write(file, now) }
            manager.isAlive()
            wait(until: min(nextTime(now), now + interval))
        }
        manager.stopping()
        broker?.end()
    }

    private func nextTime(_ now: Double) -> Double {
        var next = graph.nextTime(now)
        for source in webSources { next = min(next, source.nextTime) }
        for source in runs { next = min(next, source.nextTime(now)) }
        for courier in couriers { next = min(next, courier.nextTime(now)) }
        return settings.metrics == nil ? next : min(next, nextMetrics)
    }

    private func wait(until time: Double) {
        func watch(_ descriptor: Int32, _ events: Int32 = CURL_WAIT_POLLIN) -> curl_waitfd {
            curl_waitfd(fd: descriptor, events: Int16(events), revents: 0)
        }
        var watched = [watch(signals.descriptor)]
        if let descriptor = graph.descriptor {
            watched.append(watch(descriptor, CURL_WAIT_POLLIN | (graph.hasOutput ? CURL_WAIT_POLLOUT : 0)))
        }
        if let broker { watched.append(watch(broker.wakeup.descriptor)) }
        for source in runs where source.descriptor >= 0 { watched.append(watch(source.descriptor)) }
        for courier in couriers where courier.descriptor >= 0 { watched.append(watch(courier.descriptor)) }
        transfers.wait(for: &watched, seconds: time - MonotonicTime.now)
    }

    // MARK: MQTT

    private func takeNews() {
        guard let broker else { return }
        let news = broker.takeNews()
        dropped += news.dropped
        if news.error != brokerError, let error = news.error {
            log.report("broker", error)
            if !news.isConnected { for feed in brokerFeeds { feed.fail(error) } }
        }
        brokerError = news.error
        if isBrokerConnected, !news.isConnected {
            for feed in brokerFeeds { feed.fail(news.error ?? "the broker has gone") }
        }
        isBrokerConnected = news.isConnected
        if news.isConnected, news.connections != connections {
            connections = news.connections
            log.report("broker", "connected to the broker", .info)
            for feed in brokerFeeds { feed.beLive() }
            subscribe()
            if let availability { _ = broker.publish(availability, "online") }
            for outlet in outlets { outlet.publishAll() }
        }
        for message in news.messages {
            if outlets.contains(where: { $0.take(message) }) { continue }
            for inlet in inlets { _ = inlet.take(message) }
        }
        for outlet in outlets { outlet.publish() }
    }

    private func subscribe() {
        for filter in Set(inlets.map(\.filter.text) + outlets.flatMap(\.filters)) { broker?.subscribe(filter) }
    }

    // MARK: Metrics

    private func write(_ file: String, _ now: Double) {
        nextMetrics = now + MetricsFile.interval
        var text = ""
        func add(_ name: String, _ help: String, _ value: (Feed) -> Double) {
            text += MetricsFile.head("agd_bridge_\(name)", help)
            for feed in graph.feeds {
                text += MetricsFile.line("agd_bridge_\(name)", [("line", feed.line)], value(feed))
            }
        }
        func add(_ name: String, _ help: String, _ value: Double) {
            text += MetricsFile.head("agd_bridge_\(name)", help) + MetricsFile.line("agd_bridge_\(name)", [], value)
        }
        add("daemon_connected", "1 if the bridge has a connection to the daemon.", graph.isConnected ? 1 : 0)
        add("live", "1 if the source of the line is live.") { $0.isLive ? 1 : 0 }
        add("reports_total", "Values that the source has reported.") { Double($0.reports) }
        add("failures_total", "Attempts to get a value that failed.") { Double($0.failures) }
        add("refusals_total", "Transactions that the daemon has refused.") { Double($0.refusals) }
        func add(_ name: String, _ help: String, of value: (Courier) -> Int) {
            text += MetricsFile.head("agd_bridge_\(name)", help)
            for courier in couriers {
                text += MetricsFile.line("agd_bridge_\(name)", [("receiver", courier.name)], Double(value(courier)))
            }
        }
        if !couriers.isEmpty {
            add("notices_waiting", "Notices of alerts that the receiver does not have yet.", of: \.waiting)
            add("notices_total", "Notices that the receiver has got.", of: \.delivered)
            add("notice_failures_total", "Attempts to tell a receiver that failed.", of: \.failures)
        }
        if broker != nil {
            add("broker_connected", "1 if the bridge has a connection to the broker.", isBrokerConnected ? 1 : 0)
            add("dropped_messages_total", "Messages of the broker that were dropped.", Double(dropped))
        }
        if let code = MetricsFile.write(text, to: file) {
            log.report("metrics", "cannot write \(file): \(String(cString: strerror(code)))", .error)
        }
    }
}
