import AttributeValues
import CSimulatedKernel
import TestSupport

/// A change that a client has asked for, and what became of it.
final class Operation {
    enum Kind {
        case change([Model.Change])
        /// Makes, removes or moves nodes.
        case tree(Model.Tree)
        /// Somebody else was asked to perform it.
        case forwarded(Int64)
        /// Nobody knows when a lost request of the only writer was performed: the writer has read the result.
        case found([Model.Change])
        case foundTree(Model.Tree)
        case restart(Model.Edition)
    }

    let kind: Kind
    let text: String
    let once: String?
    /// The user or principal, to whom `once` belongs.
    let author: String
    /// The last revision that anybody had been told of when the request was sent first, and when its answer came.
    let low: Int64
    var high: Int64 = 0
    var revision: Int64?
    var refusal: String?
    /// The code with which the daemon must refuse it, whatever the values are.
    var mustFail: String?
    /// Rights have changed while it was under way.
    var mayBeDenied = false
    var isAlwaysDenied = false
    /// It has been sent more than once.
    var isRepeated = false

    init(_ kind: Kind, _ text: String, once: String? = nil, author: String, low: Int64) {
        (self.kind, self.text, self.once, self.author, self.low) = (kind, text, once, author, low)
    }
}

extension Operation {
    /// The rights of its author may change before it is performed.
    func rightsChange() { if !isAlwaysDenied { (mayBeDenied, mustFail) = (true, nil) } }

    func concerns(_ path: String) -> Bool {
        if case .change(let changes) = kind { changes.contains { $0.path == path } } else { false }
    }
}

/// A subscription over all its connections, and what it was told, until the truth is known.
final class Watch {
    enum Record {
        case subscribed(Value, since: Int64?)
        case event(Value)
        case barrier(Int64)
        case answered(Value, Int64)
        case interrupted
    }

    let validator: WatchValidator
    let motion: MotionValidator?
    let rate: Double?
    var records: [(restarts: Int, record: Record)] = []
    var subscription: Int64?
    /// From where it can be resumed.
    var position: Int64?
    var awaitsSnapshot = false

    init(_ validator: WatchValidator, motion: MotionValidator?, rate: Double?) {
        (self.validator, self.motion, self.rate) = (validator, motion, rate)
    }
}

/// One program that talks with the daemon, over one connection after another.
final class Client {
    enum Role: Equatable {
        /// Writes anything, each request with `once`.
        case writer
        /// Writes one state that nobody else writes, as fast as it can.
        case owner(Int)
        /// Acts for a principal.
        case principal
        /// May only read.
        case reader
        /// Makes, removes and moves nodes.
        case architect
        /// Performs what others write at a node.
        case delegate
        /// Sends as much as it can, over many connections, and reads nothing.
        case greedy
        /// Beside them, asks for little.
        case modest
        /// Has no rights, and sends nonsense.
        case rowdy
    }

    enum Pending {
        case operation(Operation)
        case get
        case ping
        case subscribe(since: Int64?)
        case delegate
        /// One of a row of changes.
        case change
        /// Of a forwarded request, which nobody may wait for any more.
        case answer
        /// Its sender does not mind a refusal for want of room.
        case greedy
        /// It names what is not there.
        case refused
        case other
    }

    let number: Int
    let role: Role
    let user: UInt32
    /// nil: not connected.
    var connection: Int32?
    var input: [UInt8] = []
    var output: [UInt8] = []
    var pending: [Int64: (kind: Pending, low: Int64, turn: Int)] = [:]
    var nextID: Int64 = 1
    /// It reads nothing.
    var isStalled = false
    /// Its last requests were lost: it reads before it writes again.
    var mustLook = false
    var watch: Watch?
    /// What the owner has written last, and what the daemon has acknowledged.
    var written: Int64 = 0
    var acknowledged: Int64 = 0
    /// The revision that was told when the oldest lost request was sent.
    var lostSince: Int64?
    var hasWill = false
    /// The nodes as the one who changes them knows them.
    var tree = Model.Tree()
    /// The delegated node's subscription.
    var delegation: Int64?
    /// It has ended its sending side.
    var hasEnded = false

    var isSubscribing: Bool {
        pending.values.contains { if case .subscribe = $0.kind { true } else { false } }
    }

    init(_ number: Int, _ role: Role, user: UInt32) { (self.number, self.role, self.user) = (number, role, user) }

    var name: String { "client \(number) (\(role), user \(user))" }
    var author: String { role == .principal ? "as:pat" : "user:\(user)" }

    /// Gives the daemon as much as there is room for.
    func flush() {
        guard let connection, !output.isEmpty else { return }
        let count = output.withUnsafeBytes { sim_send(connection, $0.baseAddress, $0.count) }
        output.removeFirst(count)
    }

    /// The next lines that have come.
    func lines() -> [ArraySlice<UInt8>] {
        guard let connection else { return [] }
        let waiting = sim_waiting(connection)
        if waiting > 0 {
            let start = input.count
            input.append(contentsOf: repeatElement(0, count: waiting))
            _ = input.withUnsafeMutableBytes { sim_receive(connection, $0.baseAddress.map { $0 + start }, waiting) }
        }
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while let end = input[start...].firstIndex(of: 0x0a) {
            lines.append(input[start..<end])
            start = end + 1
        }
        if start > 0 { input.removeFirst(start) }
        return lines
    }
}
