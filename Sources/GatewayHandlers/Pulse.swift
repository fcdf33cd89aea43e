import AttributeValues

/// Asks the daemon again and again whether it answers. It has a connection of its own: on the others, a request may
/// wait for one before it, such as a write that another machine performs.
final class Pulse {
    private static let interval = 0.5
    /// The daemon is silent after so many intervals without an answer, which are two seconds. Turns of the daemon are
    /// much shorter. Intervals are counted, because a clock would also count the time in which this program stood
    /// still.
    private static let mostMissed = 4

    private let link: DaemonLink
    private let machine: any Machine
    private var isAwaiting = false
    private var missed = 0
    /// The time of the last answer, in seconds of the gateway's clock.
    private(set) var lastAnswer: Double

    init(path: String, _ memory: Budget, _ machine: any Machine) {
        self.machine = machine
        lastAnswer = machine.now
        link = DaemonLink(path: path, principal: nil, memory, machine)
    }

    /// - Parameter onSilence: called when the daemon does not answer any more, and now and then until it does.
    func start(onSilence: @escaping () -> Void) {
        link.onChange = { [self] isUp in if isUp { didHear() } }
        link.isSilent = { [unowned self] in isSilent }
        link.connect()
        tickLater(onSilence)
    }

    /// True if the daemon has accepted a connection but does not answer.
    var isSilent: Bool { missed >= Pulse.mostMissed }

    /// The reason why the daemon cannot be used; nil if it can.
    var reason: String? { link.isUp && !isSilent ? nil : link.reason }

    static func report(_ reason: String?) -> Value {
        guard let reason else { return ["ready": true] }
        return ["ready": false, "reason": .string(reason)]
    }

    private func didHear() {
        missed = 0
        lastAnswer = machine.now
    }

    private func tickLater(_ onSilence: @escaping () -> Void) {
        machine.after(Pulse.interval) { [self] in
            tick(onSilence)
            tickLater(onSilence)
        }
    }

    private func tick(_ onSilence: () -> Void) {
        if link.isAway {
            missed = 0
        } else if isAwaiting || link.isGreeting {
            missed += 1
            guard missed.isMultiple(of: Pulse.mostMissed) else { return }
            link.abandon()
            onSilence()
        } else if link.isUp {
            isAwaiting = true
            link.send("ping", .map(ValueMap())) { [self] answer in
                isAwaiting = false
                if !answer.isRefusal { didHear() }
            }
        }
    }
}
