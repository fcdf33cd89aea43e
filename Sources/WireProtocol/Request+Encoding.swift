import AttributeValues

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
        case .remove, .withdraw: "remove"
        case .move: "move"
        case .restore: "restore"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .onDisconnect: "onDisconnect"
        case .delegate: "delegate"
        case .answer: "answer"
        case .describe: "describe"
        case .board: "board"
        case .explain: "explain"
        case .history: "history"
        case .log: "log"
        case .series: "series"
        case .seek: "seek"
        case .play: "play"
        case .dump: "dump"
        case .layers: "layers"
        case .stats: "stats"
        case .trace: "trace"
        case .prune: "prune"
        case .eval: "eval"
        }
    }

    fileprivate func write(to parameters: inout ParameterWriter) {
        switch self {
        case .hello(let client, let principal, let time):
            parameters.put("client", client)
            parameters.put("as", principal)
            if let time { parameters.put("time", time.value) }
        case .ping: break
        case .get(let get):
            if get.isSingle { parameters.put("path", get.paths.first) } else { parameters.put("paths", get.paths) }
            parameters.put("presentation", get.presentation)
            parameters.put("typed", get.typed)
        case .set(let mutation, let options):
            parameters.put("path", mutation.path)
            parameters.put("value", mutation.value ?? Value.null, typed: options.typed)
            parameters.put(options)
        case .do(let path, let arguments, let options):
            parameters.put("path", path.text)
            parameters.put("arguments", arguments, typed: options.typed)
            parameters.put(options)
        case .transact(let mutations, let options), .onDisconnect(let mutations, let options):
            parameters.put(mutations, typed: options.typed)
            parameters.put(options)
        case .apply(let apply):
            parameters.put("document", apply.document)
            parameters.put("at", apply.at)
            if let layer = apply.layer {
                parameters.put("layer", layer)
            } else {
                parameters.put("mode", apply.mode.rawValue)
            }
            if let condition = apply.condition {
                parameters.put(
                    "if",
                    ["epoch": .string(condition.epoch), "revision": .int(Int64(clamping: condition.revision))])
            }
            parameters.put("dryRun", apply.dryRun)
            parameters.put(apply.options)
        case .remove(let path, let options), .restore(let path, let options):
            parameters.put("path", path)
            parameters.put(options)
        case .withdraw(let layer, let path, let options):
            parameters.put("path", path)
            parameters.put("layer", layer)
            parameters.put(options)
        case .move(let path, let to, let index, let options):
            parameters.put("path", path)
            parameters.put("to", to)
            parameters.put("index", index)
            parameters.put(options)
        case .subscribe(let subscribe): parameters.put(subscribe)
        case .unsubscribe(let subscription): parameters.put("subscription", Int(subscription))
        case .delegate(let path): parameters.put("path", path)
        case .answer(let forward, let result, let error):
            parameters.put("forward", Int(forward))
            if let result { parameters.put("result", result) }
            if let error { parameters.put("error", error.json) }
        case .describe(let path, let depth):
            parameters.put("path", path)
            parameters.put("depth", depth)
        case .board(let path, let panel):
            parameters.put("path", path)
            if !panel.isEmpty { parameters.put("panel", .map(panel)) }
        case .explain(let path, let revision):
            parameters.put("path", path)
            parameters.put("revision", revision.map { Int(clamping: $0) })
        case .history(let path), .layers(let path): parameters.put("path", path)
        case .log(let log):
            if !log.patterns.isEmpty { parameters.put("paths", log.patterns) }
            if let from = log.from { parameters.put("from", from.value) }
            if let to = log.to { parameters.put("to", to.value) }
            parameters.put("by", log.by)
            parameters.put("label", log.label)
            parameters.put("count", log.count)
            parameters.put("brief", log.isBrief)
            if log.structure { parameters.put("structure", .bool(true)) }
        case .series(let series):
            switch series.subject {
            case .attributes(let paths): parameters.put("paths", paths)
            case .rule(let expression, let at):
                parameters.put("expression", expression)
                parameters.put("at", at)
            }
            parameters.put("from", series.from.value)
            if let to = series.to { parameters.put("to", to.value) }
            parameters.put("points", series.points)
            parameters.put("changes", series.changes)
            parameters.put("typed", series.typed)
        case .seek(let time): parameters.put("time", time.value)
        case .play(let speed): parameters.put("speed", .double(speed))
        case .dump(let path, let format, let layer):
            parameters.put("path", path)
            parameters.put("format", format.rawValue)
            parameters.put("layer", layer)
        case .prune: break
        case .stats(let format): parameters.put("format", format.rawValue)
        case .trace(let enable): if let enable { parameters.put("enable", .bool(enable)) }
        case .eval(let expression, let bindings, let at, let typed):
            parameters.put("expression", expression)
            parameters.put("bindings", bindings, typed: typed)
            parameters.put("at", at)
            parameters.put("typed", typed)
        }
    }
}

extension Request {
    /// The parameters as a client has sent them. Values of requests with `typed` are typed JSON already.
    public var parameters: ValueMap {
        let text = ByteBuffer()
        ParameterWriter.writeObject(to: text, writesTyped: false, write)
        // Values have come with a request, so their depth is limited.
        let parser = JSONParser(maximumDepth: 1024)
        let map = text.withBytes { (try? parser.parse($0))?.value.map }
        guard let map else { preconditionFailure("the parameters of a request are JSON") }
        return map
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
        append("\",\"params\":")
        ParameterWriter.writeObject(to: self, writesTyped: true, request.write)
        append("}\n")
    }
}

/// Writes the members of an object. It omits members that are nil or false, which the protocol treats as omitted.
private struct ParameterWriter {
    let buffer: ByteBuffer
    /// True if the values of a request with `typed` are converted to typed JSON.
    let writesTyped: Bool
    private var isFirst = true

    static func writeObject(to buffer: ByteBuffer, writesTyped: Bool, _ write: (inout ParameterWriter) -> Void) {
        buffer.append(UInt8(ascii: "{"))
        var members = ParameterWriter(buffer: buffer, writesTyped: writesTyped)
        write(&members)
        buffer.append(UInt8(ascii: "}"))
    }

    private mutating func name(_ name: StaticString) {
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        buffer.append(UInt8(ascii: "\""))
        buffer.append(name)
        buffer.append("\":")
    }

    mutating func put(_ name: StaticString, _ value: Value, typed: Bool = false) {
        self.name(name)
        typed && writesTyped ? buffer.appendTypedJSON(value) : buffer.appendJSON(value)
    }

    mutating func put(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        self.name(name)
        buffer.appendJSONString(text)
    }

    mutating func put(_ name: StaticString, _ texts: [String]) { put(name, .list(texts.map { .string($0) })) }
    mutating func put(_ name: StaticString, _ flag: Bool) { if flag { put(name, .bool(true)) } }

    mutating func put(_ name: StaticString, _ number: Int?) {
        if let number { put(name, .int(Int64(number))) }
    }

    /// Values by name; omitted if there are none.
    mutating func put(_ name: StaticString, _ values: ValueMap, typed: Bool) {
        if values.isEmpty { return }
        put(name, .map(ValueMap(values.map { ($0.key, typed && writesTyped ? $0.value.typedJSON : $0.value) })))
    }

    mutating func put(_ options: TransactionOptions) {
        if let animation = options.animation { put("animation", animation) }
        put("disablesAnimations", options.disablesAnimations)
        put("label", options.label)
        put("once", options.once)
        if options.elapsed != 0 { put("elapsed", .double(options.elapsed)) }
        put("typed", options.typed)
        if !options.motions.isEmpty { put("motions", .list(options.motions)) }
    }

    mutating func put(_ mutations: [Mutation], typed: Bool) {
        name("mutations")
        buffer.append(UInt8(ascii: "["))
        for (position, mutation) in mutations.enumerated() {
            if position > 0 { buffer.append(UInt8(ascii: ",")) }
            ParameterWriter.writeObject(to: buffer, writesTyped: writesTyped) { members in
                members.put("op", mutation.operation.rawValue)
                members.put("path", mutation.path)
                if let value = mutation.value { members.put("value", value, typed: typed) }
                members.put("index", mutation.index)
            }
        }
        buffer.append(UInt8(ascii: "]"))
    }

    mutating func put(_ subscribe: Request.Subscribe) {
        put("paths", subscribe.patterns)
        put("events", EventKinds.names.filter { subscribe.events.contains($0.kind) }.map(\.name))
        put("initial", .bool(subscribe.initial))
        if let since = subscribe.since {
            put("since", ["epoch": .string(since.epoch), "revision": .int(Int64(clamping: since.revision))])
        }
        if let rate = subscribe.maxRate { put("maxRate", .double(rate)) }
        if let rate = subscribe.frameRate { put("frames", ["rate": .double(rate)]) }
        put("css", subscribe.css)
        put("typed", subscribe.typed)
        put("bookmarks", subscribe.bookmarks)
        put("writers", subscribe.writers)
        put("reports", subscribe.reports)
    }
}
