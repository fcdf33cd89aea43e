import AttributeValues
public import WireProtocol

extension Request {
    /// The name of the method that the request calls.
    public var method: StaticString {
        switch self {
        case .hello: "hello"
        case .ping: "ping"
        case .get: "get"
        case .set: "set"
        case .transact: "transact"
        case .do: "do"
        case .apply: "apply"
        case .remove: "remove"
        case .move: "move"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .onDisconnect: "onDisconnect"
        case .delegate: "delegate"
        case .answer: "answer"
        case .describe: "describe"
        case .explain: "explain"
        case .history: "history"
        case .dump: "dump"
        case .stats: "stats"
        case .trace: "trace"
        case .prune: "prune"
        case .eval: "eval"
        }
    }

    func write(to parameters: inout ParameterWriter) {
        switch self {
        case .hello(let client, let principal):
            parameters.text("client", client)
            parameters.text("as", principal)
        case .ping: break
        case .get(let get):
            if get.isSingle { parameters.text("path", get.paths.first) } else { parameters.texts("paths", get.paths) }
            parameters.flag("presentation", get.presentation)
            parameters.flag("typed", get.typed)
        case .set(let mutation, let options):
            parameters.text("path", mutation.path)
            parameters.value("value", mutation.value ?? .null, typed: options.typed)
            parameters.options(options)
        case .do(let path, let arguments, let options):
            parameters.text("path", path.text)
            parameters.values("arguments", arguments, typed: options.typed)
            parameters.options(options)
        case .transact(let mutations, let options), .onDisconnect(let mutations, let options):
            parameters.mutations(mutations, typed: options.typed)
            parameters.options(options)
        case .apply(let apply):
            parameters.value("document", apply.document)
            parameters.text("at", apply.at)
            parameters.text("mode", apply.mode.rawValue)
            parameters.flag("dryRun", apply.dryRun)
            parameters.options(apply.options)
        case .remove(let path, let options):
            parameters.text("path", path)
            parameters.options(options)
        case .move(let move, let options):
            parameters.text("path", move.path)
            parameters.text("to", move.to)
            parameters.number("index", move.index)
            parameters.options(options)
        case .subscribe(let subscribe): parameters.subscription(subscribe)
        case .unsubscribe(let subscription): parameters.number("subscription", Int(subscription))
        case .delegate(let path): parameters.text("path", path)
        case .answer(let forward, let result, let error):
            parameters.number("forward", Int(forward))
            if let result { parameters.value("result", result) }
            if let error {
                var map = ValueMap([("code", .string(error.code.rawValue)), ("message", .string(error.message))])
                if let path = error.path { map["path"] = .string(path) }
                if let hint = error.hint { map["hint"] = .string(hint) }
                parameters.value("error", .map(map))
            }
        case .describe(let path, let depth):
            parameters.text("path", path)
            parameters.number("depth", depth)
        case .explain(let path, let revision):
            parameters.text("path", path)
            parameters.number("revision", revision.map { Int(clamping: $0) })
        case .history(let path): parameters.text("path", path)
        case .dump(let path, let format):
            parameters.text("path", path)
            parameters.text("format", format.rawValue)
        case .prune: break
        case .stats(let format): parameters.text("format", format.rawValue)
        case .trace(let trace): if let enable = trace.enable { parameters.value("enable", .bool(enable)) }
        case .eval(let eval):
            parameters.text("expression", eval.expression)
            parameters.values("bindings", eval.bindings, typed: eval.typed)
            parameters.text("at", eval.at)
            parameters.flag("typed", eval.typed)
        }
    }
}

extension ByteBuffer {
    /// Appends a request as a line, with its newline. In a request with `typed`, values are ordinary values here and
    /// are converted to typed JSON.
    /// - Parameter id: nil for a notification, which gets no answer.
    public func appendRequest(_ request: Request, id: Int64?) {
        append("{\"jsonrpc\":\"2.0\",")
        if let id {
            append("\"id\":")
            append(id)
            append(UInt8(ascii: ","))
        }
        append("\"method\":\"")
        append(request.method)
        append("\",\"params\":{")
        var parameters = ParameterWriter(buffer: self)
        request.write(to: &parameters)
        append("}}\n")
    }
}

/// Writes the members of an object. It omits members that are nil or false, which the protocol treats as omitted.
struct ParameterWriter {
    let buffer: ByteBuffer
    private var isFirst = true

    init(buffer: ByteBuffer) { self.buffer = buffer }

    private mutating func name(_ name: StaticString) {
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        buffer.append(UInt8(ascii: "\""))
        buffer.append(name)
        buffer.append("\":")
    }

    mutating func text(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        self.name(name)
        buffer.appendJSONString(text)
    }

    mutating func texts(_ name: StaticString, _ texts: [String]) {
        self.name(name)
        buffer.appendJSON(.list(texts.map { .string($0) }))
    }

    mutating func flag(_ name: StaticString, _ flag: Bool) {
        if flag { value(name, true) }
    }

    mutating func number(_ name: StaticString, _ number: Int?) {
        if let number { value(name, .int(Int64(number))) }
    }

    mutating func number(_ name: StaticString, _ number: Double?) {
        if let number { value(name, .double(number)) }
    }

    mutating func value(_ name: StaticString, _ value: Value, typed: Bool = false) {
        self.name(name)
        typed ? buffer.appendTypedJSON(value) : buffer.appendJSON(value)
    }

    /// Values by name; left out if there are none.
    mutating func values(_ name: StaticString, _ values: ValueMap, typed: Bool) {
        if values.isEmpty { return }
        value(name, .map(ValueMap(values.map { ($0.key, typed ? $0.value.typedJSON : $0.value) })))
    }

    mutating func options(_ options: TransactionOptions) {
        if let animation = options.animation { value("animation", animation) }
        flag("disablesAnimations", options.disablesAnimations)
        text("label", options.label)
        text("once", options.once)
        if options.elapsed != 0 { value("elapsed", .double(options.elapsed)) }
        flag("typed", options.typed)
    }

    mutating func mutations(_ mutations: [Mutation], typed: Bool) {
        name("mutations")
        buffer.append(UInt8(ascii: "["))
        for (position, mutation) in mutations.enumerated() {
            if position > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer.append(UInt8(ascii: "{"))
            var members = ParameterWriter(buffer: buffer)
            members.text("op", mutation.operation.rawValue)
            members.text("path", mutation.path)
            if let value = mutation.value { members.value("value", value, typed: typed) }
            members.number("index", mutation.index)
            buffer.append(UInt8(ascii: "}"))
        }
        buffer.append(UInt8(ascii: "]"))
    }

    mutating func subscription(_ subscribe: Request.Subscribe) {
        texts("paths", subscribe.patterns)
        texts("events", EventKinds.names.filter { subscribe.events.contains($0.kind) }.map(\.name))
        value("initial", .bool(subscribe.initial))
        if let since = subscribe.since {
            value("since", ["epoch": .string(since.epoch), "revision": .int(Int64(clamping: since.revision))])
        }
        number("maxRate", subscribe.maxRate)
        if let rate = subscribe.frameRate { value("frames", ["rate": .double(rate)]) }
        flag("css", subscribe.css)
        flag("typed", subscribe.typed)
        flag("bookmarks", subscribe.bookmarks)
        flag("writers", subscribe.writers)
    }
}
