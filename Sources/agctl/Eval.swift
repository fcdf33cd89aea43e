import AGClient
import AttributeValues
import CommandArguments
import Glibc
import RuleCases
import RuleLanguage
import WireProtocol

/// `agctl eval`: rules without a daemon, or at a node, now or over a time.
struct EvalCommand: Verb {
    static let help = VerbHelp(
        name: "eval", summary: "Evaluate a rule (CEL): without a daemon, at a node, or over a time.",
        discussion: """
            A string result is printed as it is, anything else as JSON. A rule that fails ends with status 2, one that \
            is refused (an unknown name, a wrong type) with 65.

            --bind name=value binds a name; a value that is valid JSON is taken as JSON, any other as text, and @file \
            reads a JSON file. name:type=value also gives the type, as in --bind 'limit:uint=5'. Names may be dotted, \
            as env.locale.

            With --at, the names in the rule are the attributes of a node of the daemon. With --over, agd-past says \
            what the rule was there, also if nobody had it then: bars and figures on a terminal, else a line for each \
            stretch of time. The time ends now, or at --time.

            Examples:
              agctl eval '1 + 2'
              agctl eval 'user.age >= 18' --bind user=@user.json
              agctl eval 'items.map(i, i * 2)' --bind items='[1, 2]' --explain
              agctl eval 'x / 2 > y' --bind x=5 --bind y=2 --check
              agctl eval --typed --cases cases.jsonl
              agctl eval --typed < cases.jsonl
              agctl eval 'load / cores' --at /host
              agctl eval 'load > 4.0' --at /host --over 24h

            --cases, or --typed without a rule, reads JSON lines {"expr", "container", "type_env", "bindings", \
            "disable_check", "check_only"} with typed values and prints for each {"value", "type"} or {"error": \
            {"message", "line", "column"}}.
            """)

    @Argument(help: "The rule.")
    var expression: String?

    @Option(short: "-b", help: ArgumentHelp("Bind a name.", valueName: "name=value"))
    var bind: [String] = []

    @Flag(help: "Write typed JSON, which names every value's type.")
    var typed = false

    @Flag(help: "Print the rule's type and what it reads; evaluate nothing.")
    var check = false

    @Flag(help: "Print the parts of the rule with their values.")
    var explain = false

    @Option(
        help: ArgumentHelp("Evaluate the cases of a file (- for standard input).", valueName: "file"),
        completion: .files) var cases: String?

    @Option(
        help: ArgumentHelp("The node whose attributes the rule can use.", valueName: "path"),
        completion: Suggestions.nodes) var at: String?

    @Option(help: ArgumentHelp("Print what the rule was for so long: 90s, 24h, 7d.", valueName: "time"))
    var over: String?

    @Option(help: ArgumentHelp("So many stretches of the time (60; on a terminal, its width).", valueName: "n"))
    var points: Int?

    @OptionGroup var common: CommonOptions

    /// The node to ask for; nil: no daemon is asked.
    private var node: String? { at ?? (over == nil ? nil : "/") }

    func validate() throws(UsageError) {
        if typed, expression == nil, cases == nil { cases = "-" }
        if (expression == nil) == (cases == nil) { throw UsageError("give either a rule or --cases") }
        if check, explain { throw UsageError("--check and --explain contradict each other") }
        if cases != nil, check || explain || !bind.isEmpty {
            throw UsageError(
                "--cases cannot be combined with --bind, --check or --explain: each case has its own")
        }
        if node != nil, check || explain || cases != nil {
            throw UsageError("--at and --over contradict --check, --explain and --cases")
        }
        if over != nil, typed || !bind.isEmpty { throw UsageError("--over contradicts --bind and --typed") }
        if let over, (TimeSpan(over)?.nanoseconds ?? 0) <= 0 { throw UsageError("--over takes a time, as 24h or 7d") }
        if let points, over == nil || points < 1 || points > Request.Series.mostPoints {
            throw UsageError("--points is a number from 1 to \(Request.Series.mostPoints), and needs --over")
        }
        let daemon = common.daemon
        if node == nil, [daemon.socket, daemon.context, daemon.principal, daemon.time].contains(where: { $0 != nil }) {
            throw UsageError("a rule without --at and --over needs no daemon")
        }
    }

    func run() throws {
        if let expression, let node { return try Session.run(common) { try ask(expression, at: node, $0) } }
        let output = Output(color: common.coloring.color)
        try output.flushing {
            if let cases { return try EvalCases.run(cases, output) }
            if let expression { try evaluate(expression, output) }
        }
    }

    private func ask(_ expression: String, at node: String, _ session: Session) throws {
        if let span = over.flatMap({ TimeSpan($0) }) { return try show(expression, at: node, over: span, session) }
        let request = Request.eval(expression: expression, bindings: try Bindings(bind).values, at: node, typed: true)
        try show(try Content(result: try session.connection().call(request), typed: true), session.output)
    }

    private func show(_ expression: String, at node: String, over span: TimeSpan, _ session: Session) throws {
        let output = session.output
        let size = output.isTerminal && !session.isJSON ? Terminal.size : nil
        let width = size.map { min(max(10, $0.columns), Request.Series.mostPoints) }
        let series = try RuleSeries(
            expression, at: node, over: span, points: points ?? width ?? 60, changes: size != nil, session)
        if session.isJSON { return output.json(.map(series.answer)) }
        guard let size else { return output.write(series.table.text(numeric: [1, 2, 3])) }
        if let bars = series.sparkline { output.writeLine(output.style.cyan(bars)) }
        output.writeLine(series.summary)
        if !series.isNumber { output.write(series.changes(rows: max(10, size.rows - 6)).text()) }
        for gap in series.gaps { output.writeLine(output.style.dim(gap.text)) }
    }

    private func evaluate(_ expression: String, _ output: Output) throws {
        let bindings = try Bindings(bind)
        do {
            if check { return describe(try Rule.compile(expression, in: bindings.scope), output) }
            if explain {
                return try show(try Explanation(expression, in: bindings.scope, bindings: bindings.values), output)
            }
            let program = try Rule.compile(expression, in: bindings.scope)
            try show(Evaluator().evaluate(program, bindings: bindings.values), output)
        } catch let errors as RuleErrors { throw Complaint(errors.failure, status: .data) }
    }

    private func describe(_ program: Program, _ output: Output) {
        if common.json {
            let inputs = program.inputs.map { input -> Value in
                ["path": .string("\(input)"), "definite": .bool(input.isDefinite)]
            }
            return output.json(["type": .string("\(program.resultType)"), "inputs": .list(inputs)])
        }
        output.writeLine("type    \(program.resultType)")
        for input in program.inputs {
            output.writeLine("reads   \(input)" + (input.isDefinite ? "" : output.style.dim("  (sometimes)")))
        }
    }

    private func show(_ explanation: Explanation, _ output: Output) throws {
        if common.json { output.json(.list(list(explanation))) } else { output.writeLine("\(explanation)") }
        if case .failure(let failure) = explanation.result { throw Complaint(failure, status: .attributeError) }
    }

    private func list(_ explanation: Explanation) -> [Value] {
        explanation.parts.map { part -> Value in
            var map = ValueMap()
            map["depth"] = .int(Int64(part.depth))
            map["text"] = .string(part.text)
            map["times"] = .int(Int64(part.times))
            switch part.content {
            case .value(let value): map["value"] = typed ? value.typedJSON : value
            case .failure(let failure):
                map["error"] = ["code": .string(failure.code.rawValue), "message": .string(failure.message)]
            case nil: break
            }
            return .map(map)
        }
    }

    private func show(_ content: Content, _ output: Output) throws {
        switch content {
        case .value(let value):
            if typed { return output.json(value.typedJSON) }
            if case .string(let text) = value, !common.json { return output.writeLine(output.userText(text)) }
            output.json(value)
        case .failure(let failure): throw Complaint(failure, status: .attributeError)
        }
    }
}

private struct Bindings {
    let scope = RuleScope()
    var values = ValueMap()

    init(_ written: [String]) throws(Complaint) {
        for text in written {
            guard let equals = text.firstIndex(of: "="), text.first != "=", text.first != ":" else {
                throw Complaint(.usage, "--bind \(text): a binding is name=value or name:type=value")
            }
            let left = text[..<equals]
            let right = String(text[text.index(after: equals)...])
            let parts = left.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            var value: Value
            if right.hasPrefix("@") {
                value = try ValueForm.json.read(try InputText.read(String(right.dropFirst())))
            } else {
                value = try ValueForm.auto.read(right)
            }
            var type = ValueType(of: value)
            if parts.count == 2 {
                guard let written = ValueType(String(parts[1])) else {
                    throw Complaint(.usage, "--bind \(text): '\(parts[1])' is not a type")
                }
                guard let accepted = written.accept(value) else {
                    throw Complaint(.usage, "--bind \(text): the value is not of type \(written)")
                }
                (type, value) = (written, accepted)
            }
            values[name] = value
            scope.declare(name, type)
        }
    }
}

/// `--cases`: one answer per line, as soon as the line has arrived. A line that is not a case gets an error as its
/// answer.
private enum EvalCases {
    static func run(_ name: String, _ output: Output) throws {
        let title = InputText.title(of: name)
        guard let file = name == "-" ? fdopen(0, "r") : fopen(name, "re") else {
            throw Complaint(name == "-" ? .inputOutput : .notFound, "\(title): \(String(cString: strerror(errno)))")
        }
        defer { if name != "-" { fclose(file) } }
        let evaluator = Evaluator()
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while true {
            let count = getline(&line, &capacity, file)
            guard count > 0, let line else { break }
            let bytes = UnsafeRawBufferPointer(start: line, count: count)
            if bytes.allSatisfy({ $0 <= 32 }) { continue }
            output.json(answer(bytes, evaluator))
            if name == "-" { try output.flush() }
        }
        if ferror(file) != 0 { throw Complaint(.inputOutput, "\(title): \(String(cString: strerror(errno)))") }
    }

    private static func answer(_ line: UnsafeRawBufferPointer, _ evaluator: Evaluator) -> Value {
        do throws(Failure) {
            guard let text = String(validating: line, as: UTF8.self) else { throw Failure(.invalid, "not UTF-8") }
            return try RuleCase(json: try JSONParser.parseOnce(text.utf8)).run(on: evaluator).json
        } catch { return ["error": ["message": .string(error.message)]] }
    }
}
