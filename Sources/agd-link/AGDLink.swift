import AGClient
import AttributeValues
import CommandArguments
import Dispatch
import Glibc
import WireProtocol

@main
struct AGDLink: Verb {
    static let help = VerbHelp(
        name: "agd-link",
        summary: "Join daemons through NATS JetStream: publish subtrees of this one, and mirror those of others.",
        discussion: """
            config/link.conf describes all settings. Documentation/Fleet.md describes how to join machines.

            Examples:
              agd-link --config /etc/agd/link.conf
              agd-link --config /etc/agd/link.conf --check-config

            Exit status:
              0   ended by SIGTERM or SIGINT   71  operating system
              64  command line                 78  configuration, or its file missing
            """)

    @Option(help: ArgumentHelp("Read settings from this file.", valueName: "file"))
    var config: String

    @Option(help: ArgumentHelp("The daemon's socket, instead of the configuration's.", valueName: "path"))
    var socket: String?

    @Flag(help: "Print all faults of the configuration, and end.")
    var checkConfig = false

    static func main() { AGDLink.readCommandLine(version: Release.version).run() }

    func run() {
        var settings = AGDLink.readConfiguration(config) { (text, file) throws(ConfigurationFaults) in
            try Configuration(text: text, file: file)
        }
        AGDLink.warnOfOpenSecrets(settings.secrets(in: config))
        if checkConfig { return }
        // libnats would try to connect again and again, and not say why.
        for (name, file) in settings.files where access(file, R_OK) != 0 {
            AGDLink.end("cannot read \(file), which '\(name)' names: \(String(cString: strerror(errno)))", 78)
        }
        if let socket { settings.socket = socket }

        // Blocked in all threads, which inherit the mask, and taken by `sigwait` below.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)

        let stop: Wakeup
        do { stop = try Wakeup() } catch { AGDLink.end("\(error)", 71) }
        var host = utsname()
        uname(&host)
        let holder = withUnsafeBytes(of: host.nodename) { name in
            "\(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)):\(getpid())"
        }
        let finished = DispatchGroup()
        var lines: [@Sendable (Pulse) throws -> Void] = settings.publications.map { publication in
            { [settings] in try Publisher(publication, settings, holder: holder, stop: stop, pulse: $0).run() }
        }
        lines += settings.mirrorings.map { mirroring in
            { [settings] in try Mirror(mirroring, settings, stop: stop, pulse: $0).run() }
        }
        let pulses = lines.map { run in
            let pulse = Pulse()
            AGDLink.start(finished) { try run(pulse) }
            return pulse
        }
        let manager = ServiceManager { getenv($0).map { String(cString: $0) } }
        let count = (settings.publications.count, settings.mirrorings.count)
        manager.ready("publish lines: \(count.0), mirror lines: \(count.1)")
        // The longest call to the daemon takes half of this.
        let patience = 2 * settings.callTime
        let interval = min(manager.watchdogInterval ?? 1, 1)
        var nextMetrics = 0.0
        var log = Log(subject: "metrics")
        var wait = timespec(tv_sec: Int(interval), tv_nsec: Int(interval.truncatingRemainder(dividingBy: 1) * 1e9))
        while sigtimedwait(&signals, nil, &wait) < 0 {
            if pulses.allSatisfy(\.isFresh) { manager.isAlive() }
            for pulse in pulses where pulse.hangUp(after: patience) {
                Log.write(
                    "agd-link: a mirror has not gone on for \(patience) s; its sites are silent until it does", .error)
            }
            guard let file = settings.metrics, MonotonicTime.now >= nextMetrics else { continue }
            nextMetrics = MonotonicTime.now + MetricsFile.interval
            if let code = MetricsFile.write(pulses.flatMap(\.samples).text, to: file) {
                log.report("file", "cannot write \(file): \(String(cString: strerror(code)))", .error)
            }
        }
        manager.stopping()
        stop.signal()
        // Their calls end within seconds.
        _ = finished.wait(timeout: .now() + 5)
    }

    /// - Parameter body: throws only what no other attempt can mend.
    private static func start(_ finished: DispatchGroup, _ body: @escaping @Sendable () throws -> Void) {
        finished.enter()
        do {
            try Worker.start {
                do { try body() } catch { end("\(error)", 78) }
                finished.leave()
            }
        } catch { end("\(error)", 71) }
    }
}
