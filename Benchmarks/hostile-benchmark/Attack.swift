import BenchmarkSupport

/// One thing that a client may do to the daemon, and what the daemon needs for it.
///
/// To add one: write it in the file of its kind, and put it into that file's list. `run` is called in a process of its
/// own, which is killed after `seconds`: an attack that the daemon makes wait needs no care.
struct Attack: Sendable {
    /// Words joined by "-", as `cycle-of-4000-rules`.
    var name: String
    /// A scene document as JSON that the daemon has loaded before anybody connects.
    var scene: @Sendable () -> String?
    /// Lines of the daemon's configuration.
    var settings: [String]
    /// The attackers have another user's rights: none. That takes root.
    var hasRights: Bool
    var seconds: Double
    var ending: Ending
    /// Figures of `stats` that must not be passed at the end.
    var most: [String: Double]
    var run: @Sendable (Target) throws -> Void

    init(
        name: String, scene: @escaping @autoclosure @Sendable () -> String? = nil, settings: [String] = [],
        hasRights: Bool = true,
        seconds: Double = 2, ending: Ending = .served, most: [String: Double] = [:],
        run: @escaping @Sendable (Target) throws -> Void
    ) {
        self.name = name
        self.scene = scene
        self.settings = settings
        self.hasRights = hasRights
        self.seconds = seconds
        self.ending = ending
        self.most = most
        self.run = run
    }

    enum Ending: Sendable {
        /// The daemon goes on.
        case served
        /// The daemon is ended in order behind the attack, and started over its store.
        case restarted
        /// The daemon is told to end in the middle of the attack. A second client's last will must be done.
        case stopped
    }

    /// Seconds of processor time that a turn may take.
    var longestTurn: Double { hasRights ? 0.1 : 0.01 }
    var keepsStore: Bool { ending != .served }

    static let all: [Attack] =
        ruleAttacks + textAttacks + motionAttacks + fanOutAttacks + valueAttacks + documentAttacks + connectionAttacks
        + outputAttacks + rightlessAttacks
}

/// The daemon, as an attack sees it.
struct Target {
    var socketPath: String
    /// Prints what requests are answered with.
    var isVerbose = false

    func connect() throws -> DaemonClient { try DaemonClient(socketPath, isVerbose: isVerbose) }
}
