import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct FeedCommand: Verb {
    static let help = VerbHelp(
        name: "feed", summary: "Write each line of standard input.",
        discussion: """
            Each line is one request. agctl sends all lines in order, without waiting for each answer. A line that is \
            valid JSON is taken as JSON, any other as text. The first refusal ends the feed, unless --keep-going is \
            given. Without a path, each line is a mutation as in transact: set /a.b 1, or a JSON object: {"op": "set", \
            "path": "/a.b", "value": 1}.

            A program that passes texts of others on writes JSON objects, and --json refuses all other lines. In lines \
            of words, a text with a line break would become several mutations. With --by-type, a value that is a text \
            is read by the type of its attribute: as JSON if that fits, otherwise as the text itself. So 12345 stays a \
            text for a string.

            When the daemon goes away, feed waits for it and continues with the next line. If a line was sent but not \
            answered, nobody knows whether it was performed: feed then ends with status 69 and names the line.

            Examples:
              vmstat -n 1 | awk '{ print $15; fflush() }' | agctl feed /host.idle
              tail -f app.log | agctl feed /log.last --raw
              sensors-json | agctl feed /sensors.all --json --on-disconnect null
              agctl feed < mutations.txt
              messages-as-json | agctl feed --json --by-type --keep-going
            """)

    @Argument(help: "The attribute to write; without it, each line names one.", completion: Suggestions.places)
    var path: String?

    @Flag(help: "Take each line as text, even if it is JSON.")
    var raw = false

    @Flag(help: "Refuse lines that are not JSON, and report refusals as JSON.")
    var json = false

    @Flag(help: "Read each text by the type of its attribute: as JSON if that fits, otherwise as it is.")
    var byType = false

    @Flag(help: "Continue with the next line if one is refused.")
    var keepGoing = false

    @Option(
        help: ArgumentHelp("The value that the daemon writes when this feed ends for any reason.", valueName: "value"))
    var onDisconnect: String?

    @OptionGroup var write: WriteOptions

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var coloring: ColorOption

    func validate() throws(UsageError) {
        if raw, json { throw UsageError("--raw and --json contradict each other") }
        if byType, raw || json && path != nil {
            throw UsageError("--by-type and \(raw ? "--raw" : "--json with a path") contradict each other")
        }
        if onDisconnect != nil, path == nil { throw UsageError("--on-disconnect needs the path to write to") }
    }

    private var form: ValueForm { raw ? .string : json ? .json : .auto }

    func run() throws {
        let errors = ErrorForm(isJSON: json, color: coloring.color)
        let session = try Session(daemon, errors: errors)
        let options = write.makeOptions()
        var ending: [Mutation] = []
        if let path, let onDisconnect {
            ending = [Mutation(operation: .set, path: path, value: try form.read(onDisconnect))]
        }
        let feed = try LineFeed(session, keepsGoing: keepGoing) { () throws(ClientError) in
            let connection = try session.connection(name: "agctl feed")
            if !ending.isEmpty { _ = try connection.call(.onDisconnect(ending, options)) }
            return connection
        }
        try feed.run { line in
            guard var mutation = try readMutation(line) else { return nil }
            if byType, case .string(let text)? = mutation.value {
                let type = mutation.operandType(at: try feed.type(of: mutation.path))
                mutation.operand = ValueForm.read(text, as: type)
            }
            return path == nil ? .transact([mutation], options) : .set(mutation, options)
        }
    }

    private func readMutation(_ line: String) throws(Complaint) -> Mutation? {
        // Values in words are texts until their types are known.
        let form = byType && !json ? .string : form
        guard let path else { return try MutationText.readFedLine(line, form) }
        return Mutation(operation: .set, path: path, value: try form.read(line))
    }
}

extension Mutation {
    /// The type of the value that changes an attribute of a type in this way.
    fileprivate func operandType(at type: ValueType) -> ValueType {
        switch (operation, type) {
        case (.append, .list(let element)), (.insert, .list(let element)): element
        case (.add, _), (.merge, _): .dyn
        default: type
        }
    }
}

/// Standard input, line by line, as pipelined requests.
private final class LineFeed {
    /// Maximum requests without an answer: enough to keep the daemon busy, few enough to notice a refusal soon.
    private static let maximumOutstanding = 256
    static let maximumLineLength = 16 << 20

    private let session: Session
    private let connect: () throws(ClientError) -> Connection
    /// nil after a loss, until the next line.
    private var connection: Connection?
    private let keepsGoing: Bool
    /// The line numbers of unanswered requests with their ids. The daemon answers in order.
    private var outstanding: [(id: Int64, line: Int)] = []
    private var head = 0
    /// The number of the last line that was answered; 0: none.
    private var answered = 0
    private var refused: ExitStatus?

    /// - Parameter connect: asks the session for its connection and prepares it.
    init(
        _ session: Session, keepsGoing: Bool, connect: @escaping () throws(ClientError) -> Connection
    ) throws(ClientError) {
        self.session = session
        self.keepsGoing = keepsGoing
        self.connect = connect
        connection = try connect()
    }

    /// The type of an attribute, or of a value inside it, behind all lines that were sent. `dyn` if the daemon does not
    /// tell: the write is then refused with the reason.
    func type(of path: String) throws -> ValueType {
        while true {
            do {
                let result = try reconnected().call(.describe(path: path, depth: 0))
                return result.map?["type"]?.string.flatMap { ValueType($0) } ?? .dyn
            } catch ClientError.lost(let reason) where head == outstanding.count {
                noteLoss(reason)
            } catch let error as ClientError where error.failure != nil { return .dyn }
        }
    }

    /// No line is lost with the connection, because all are answered.
    private func noteLoss(_ reason: String) {
        WatchNotice(.interrupted(.lost(reason)))?.report(session.errors)
        connection = nil
    }

    /// - Parameter request: returns nil for a line without a request.
    func run(_ request: (String) throws -> Request?) throws {
        do { try feed(request) } catch let error as ClientError where error.mayPassAfterLoss {
            var complaint = Complaint(error)
            if let first = outstanding.dropFirst(head).first?.line, let last = outstanding.last?.line {
                let confirmed = answered == 0 ? "no line was answered" : "line \(answered) was the last to be answered"
                let unknown = first == last ? "line \(first)" : "lines \(first) to \(last)"
                complaint.message += "; \(confirmed), and \(unknown) may have been performed"
                complaint.hint =
                    complaint.hint
                    ?? "find out whether line \(first) was performed; 'tail -n +\(first) FILE' prints it and all behind it"
            }
            throw complaint
        }
    }

    private func feed(_ request: (String) throws -> Request?) throws {
        var rest: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var number = 0
        var isOpen = true
        while isOpen {
            try hearWhileInputIsSilent()
            let count = read(0, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Complaint(.inputOutput, "standard input: \(String(cString: strerror(errno)))")
            }
            isOpen = count > 0
            rest += chunk[..<count]
            // The last line may lack its newline.
            if !isOpen, !rest.isEmpty { rest.append(UInt8(ascii: "\n")) }
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                number += 1
                try send(rest[start..<end], number, request)
                start = end + 1
            }
            rest.removeFirst(start)
            guard rest.count <= Self.maximumLineLength else {
                throw Complaint(.data, "line \(number + 1): more than \(Self.maximumLineLength) bytes")
            }
            try connection?.flush()
        }
        while head < outstanding.count { try hear() }
        if let refused { throw EndOfCommand(status: refused) }
    }

    private func send(_ line: ArraySlice<UInt8>, _ number: Int, _ request: (String) throws -> Request?) throws {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        do {
            guard let text = String(validating: line, as: UTF8.self) else { throw Complaint(.data, "not UTF-8") }
            guard let request = try request(text) else { return }
            outstanding.append((try reconnected().send(request), number))
        } catch let complaint as Complaint { try judge(complaint, number) }
        while outstanding.count - head >= Self.maximumOutstanding { try hear() }
    }

    /// Reads answers that arrive before the next line. If all lines are answered, a loss of the connection loses none.
    private func hearWhileInputIsSilent() throws {
        do {
            while let message = try connection?.receive(interrupt: 0) { try take(message) }
            // If there is a line as well, the loss is noticed before the line is sent.
            while let message = try connection?.receive(timeout: 0) { try take(message) }
        } catch ClientError.lost(let reason) where head == outstanding.count { noteLoss(reason) }
    }

    private func reconnected() throws -> Connection {
        if let connection { return connection }
        let opened = try session.reopen(pause: { Wakeup.wait(for: -1, $0) }, connect)
        WatchNotice(.resumed(isSnapshot: false))?.report(session.errors)
        connection = opened
        return opened
    }

    private func hear() throws {
        if let message = try connection?.receiveAnswer() { try take(message) }
    }

    private func take(_ message: Message) throws {
        guard case .reply(let id, let reply) = message, head < outstanding.count, id == outstanding[head].id else {
            return
        }
        let line = outstanding[head].line
        answered = line
        head += 1
        if head == outstanding.count { (outstanding, head) = ([], 0) }
        if case .fault(let fault) = reply { try judge(Complaint(.refused(fault)), line) }
    }

    private func judge(_ complaint: Complaint, _ line: Int) throws {
        let complaint = complaint.located(at: "line \(line)")
        guard keepsGoing else { throw complaint }
        _ = complaint.report(session.errors)
        refused = refused ?? complaint.status
    }
}
