import AttributeValues
import EventLoop
import Glibc
import GraphRuntime
import SceneModel
import Logging
import StateStore
import WireProtocol

extension Daemon {
    static func openStore(
        _ configuration: Configuration, basis: String, recover: Bool, newEpoch: () -> String
    ) throws(StartupError) -> (StateStore?, StateStore.Restored?) {
        guard let directory = configuration.stateDirectory else { return (nil, nil) }
        try refuseEmpty(directory, setting: "state-directory")
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw StartupError(LoopError(call: "mkdir", number: errno, subject: directory), otherwise: .inputOutput)
        }
        do throws(StoreError) {
            return try StateStore.open(
                directory: directory, durability: configuration.durability, basis: basis, recover: recover,
                newEpoch: newEpoch)
        } catch { throw StartupError(error) }
    }

    /// The scenes and their imports, each file once, in the order of loading.
    static func read(_ scenes: [String]) throws(StartupError) -> [(file: String, text: String)] {
        var read: [(file: String, text: String)] = []
        for scene in scenes {
            do {
                for file in try SceneImports.collect(scene, read: { try TextFile.forStart($0) })
                where !read.contains(where: { $0.file.hasSameBytes(as: file.path) }) {
                    read.append((file.path, file.text))
                }
            } catch let error as StartupError {
                throw StartupError(error.status, "scene: \(error)")
            } catch {
                throw StartupError(.dataError, "\(error)")
            }
        }
        return read
    }

    /// A text that names all that the graph depends on besides the store: this release, the scenes, and the limits.
    static func basis(_ configuration: Configuration, _ scenes: [(file: String, text: String)]) -> String {
        let texts = scenes.map { "\(StateStore.digest(of: $0.text))" }.joined(separator: " ")
        return "\(Release.version) \(StateStore.digest(of: "\(configuration.runtime)")) \(texts)"
    }

    /// - Returns: warnings about the scenes, one line each: things that are allowed but probably not intended.
    @discardableResult
    static func load(
        _ scenes: [(file: String, text: String)], into runtime: GraphRuntime
    ) throws(StartupError) -> [String] {
        var warnings: [String] = []
        for (file, text) in scenes {
            do throws(Failure) { warnings += try runtime.load(text, file: file)?.lineByLine ?? [] } catch {
                throw StartupError(.dataError, error.description)
            }
        }
        return warnings
    }

    static func announce(_ store: StateStore, _ restored: StateStore.Restored, _ log: Logger) {
        for loss in restored.losses { log.warning("store \(store.path): \(loss)") }
        if restored.isNew {
            log.notice("store \(store.path): created, epoch \(restored.epoch)")
        } else {
            log.notice(
                "store \(store.path): epoch \(restored.epoch), revision \(restored.revision), \(restored.rows.count) rows"
            )
        }
    }

    /// Restores the rows of nodes. Rows without a node stay in the store and are logged.
    static func restore(_ restored: StateStore.Restored, into runtime: GraphRuntime, _ log: Logger) {
        let failures = runtime.restore(
            restored.rows, resumableFrom: restored.resumableFrom)
        for (revision, failure) in failures { log.warning("from the store, revision \(revision): \(failure.message)") }
    }

    /// Checks everything that a start by this user needs, without making or serving anything. A fault in a scene may
    /// cause faults in later scenes. The socket's path is checked only if it was given, because a service manager may
    /// pass another socket.
    /// - Returns: the faults that would prevent a start, settings before scenes, with the lines of the file.
    public static func check(
        _ configuration: Configuration, environment: ProcessEnvironment = ProcessEnvironment()
    ) -> [StartupError] {
        var faults: [StartupError] = []
        func check(_ setting: String, _ position: Int = 0, _ body: () throws(StartupError) -> Void) {
            do throws(StartupError) { try body() } catch {
                faults.append(error.located(configuration.placeInFile(of: setting, position)))
            }
        }
        if let socket = configuration.socket ?? SocketPlaces.named({ environment[$0] }) {
            check("socket") { () throws(StartupError) in try checkSocket(socket) }
        }
        if let group = configuration.socketGroup {
            check("socket-group") { () throws(StartupError) in _ = try ListeningSocket.groupID(group) }
        }
        if let directory = configuration.stateDirectory {
            check("state-directory") { () throws(StartupError) in try checkFolder(directory, setting: "state-directory")
            }
        }
        let runtime = GraphRuntime(limits: configuration.runtime, epoch: "check", at: now())
        for (position, scene) in configuration.scenes.enumerated() {
            check("scene", position) { () throws(StartupError) in try load(try read([scene]), into: runtime) }
        }
        return faults
    }

    private static func checkSocket(_ path: String) throws(StartupError) {
        _ = try ListeningSocket.address(path)
        try ListeningSocket.isSocket(path)
        try checkFolder(folderName(path), setting: "socket")
    }

    /// Checks a folder in which the daemon makes a file at its start. The start itself makes the last folder of the
    /// path if necessary, but no other.
    private static func checkFolder(_ folder: String, setting: String) throws(StartupError) {
        try refuseEmpty(folder, setting: setting)
        let isThere = access(folder, F_OK) == 0
        if isThere, !isFolder(folder) { throw StartupError(.configuration, "\(setting): \(folder) is not a folder") }
        let changed = isThere ? folder : folderName(folder)
        guard isFolder(changed) else {
            throw StartupError(.configuration, "\(setting): there is no folder \(changed) to make \(folder) in")
        }
        guard access(changed, W_OK | X_OK) == 0 else {
            let refusal = StartupError(LoopError(call: "access", number: errno, subject: changed))
            throw StartupError(refusal.status, "\(setting): \(refusal)")
        }
    }

    private static func refuseEmpty(_ path: String, setting: String) throws(StartupError) {
        if path.isEmpty { throw StartupError(.configuration, "\(setting): the path is empty") }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The folder that contains the last name of a path.
    private static func folderName(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func now() -> Moment {
        var wall = timespec()
        clock_gettime(CLOCK_REALTIME, &wall)
        let monotonic = Loop.monotonicTime
        return Moment(
            monotonic: monotonic,
            wall: Timestamp(seconds: Int64(wall.tv_sec), nanoseconds: Int64(wall.tv_nsec)) ?? .epoch,
            asleep: max(0, WallTime.sinceStart - monotonic))
    }

    /// Puts everything on the loop. From now on, clients are served.
    func startServing() throws(LoopError) {
        raiseDescriptorLimit()
        try entrance.open(loop, to: sessions)
        wakefulness = try Wakefulness(loop)
        careTimer = try Timer(loop) { [unowned self] _ in care() }
        turn.timer = try Timer(loop) { _ in }
        foldTimer = try Timer(loop) { [unowned self] _ in fold() }
        archiveTimer = try Timer(loop) { [unowned self] _ in flushArchive() }
        // agd-past cannot show a moment before the first image is complete. The image of a small graph is one slice.
        flushArchive()
        do throws(LoopError) { _ = try WallClockWatch(loop) { [unowned self] in turn.wake() } } catch {
            log.warning("\(error): values that depend on the time may be late after the wall clock was set")
        }
        _ = try BeforeSleep(loop) { [unowned self] in beforeSleep() }
        for number in [SIGTERM, SIGINT] { _ = try Signal(loop, number) { [unowned self] in stop() } }
        _ = try Signal(loop, SIGHUP) { [unowned self] in reload() }
        guard let interval = manager.watchdogInterval else { return }
        let watchdog = try Timer(loop) { [unowned self] timer in
            manager.isAlive()
            timer.start(in: interval)
        }
        watchdog.start(in: interval)
    }

    /// Raises the limit of file descriptors to the number that all clients need, and warns if that is not possible.
    func raiseDescriptorLimit() {
        let clients = configuration.server.clients
        let present = DescriptorLimit.current()
        let wanted = present.raised(for: clients)
        if wanted != present {
            do throws(LoopError) { try wanted.impose() } catch { log.warning("\(error)") }
        }
        sessions.admission.descriptors = DescriptorLimit.current()
        if !sessions.admission.descriptors.fits(clients) {
            log.warning(
                """
                \(clients) clients need \(clients + DescriptorLimit.reserve) file descriptors, and the process may \
                open \(sessions.admission.descriptors.soft): some clients will be refused; raise LimitNOFILE, or lower the \
                setting clients
                """)
        }
    }
}
