import AttributeValues

// An event is written in two parts, so that it is encoded once however many subscriptions it has. The number of the
// subscription comes between the two:
//
//     {"jsonrpc":"2.0","method":"update","params":{"subscription":   ← head
//     ,"revision":12,"changes":[…]}}⏎                                ← tail
extension ByteBuffer {
    /// Appends the part before the number of the subscription.
    public func appendHead(of event: Event) {
        append("{\"jsonrpc\":\"2.0\",\"method\":\"")
        append(event.method)
        append("\",\"params\":{\"subscription\":")
    }

    /// Appends the rest, with the newline that ends the message.
    public func appendTail(of event: Event) {
        switch event {
        case .update(let revision, let from, let label, let writer, let isInitial, let changes, let typed):
            appendMember(",\"revision\":", revision)
            appendMember(",\"from\":", from)
            appendMember(",\"label\":", label)
            appendMember(",\"writer\":", writer)
            if isInitial { append(",\"initial\":true") }
            append(",\"changes\":[")
            appendSeparated(changes) { append($0, typed: typed) }
            append(UInt8(ascii: "]"))
        case .updateText(let revision, let label, let writer, let changes):
            appendMember(",\"revision\":", revision)
            appendMember(",\"label\":", label)
            appendMember(",\"writer\":", writer)
            append(",\"changes\":[")
            append(changes)
            append(UInt8(ascii: "]"))
        case .invalidate(let revision, let paths):
            appendMember(",\"revision\":", revision)
            appendMember(",\"paths\":", paths)
        case .structure(let revision, let added, let removed, let moved, let details):
            appendMember(",\"revision\":", revision)
            appendMember(",\"added\":", added)
            appendMember(",\"removed\":", removed)
            appendMember(",\"moved\":", moved)
            guard let details else { break }
            appendMember(",\"timeline\":", details.timeline)
            if !details.transitions.isEmpty { appendMember(",\"transitions\":", .map(details.transitions)) }
            if !details.shown.isEmpty { appendMember(",\"shown\":", .map(details.shown)) }
        case .frames(let time, let values):
            append(time) {
                appendSeparated(values) { entry in
                    appendJSONString(entry.path)
                    append(UInt8(ascii: ":"))
                    appendJSON(entry.value)
                }
            }
        case .frameSheet(let time, let members): append(time) { append(members) }
        case .completion(let revision, let transaction, let phase, let paths):
            appendMember(",\"revision\":", revision)
            appendMember(",\"transaction\":", transaction)
            appendMember(",\"phase\":", phase)
            appendMember(",\"paths\":", paths)
        case .bookmark(let epoch, let revision):
            appendMember(",\"epoch\":", epoch)
            appendMember(",\"revision\":", revision)
        case .forward(let number, let method, let parameters, let principal, let user):
            appendMember(",\"forward\":", number)
            appendMember(",\"call\":", method)
            appendMember(",\"arguments\":", .map(parameters))
            appendMember(",\"principal\":", principal)
            appendMember(",\"user\":", user)
        case .ended(let code, let reason):
            appendMember(",\"code\":", code.rawValue)
            appendMember(",\"reason\":", reason)
        }
        append("}}\n")
    }

    /// Appends an element of the list of changes, without the end of its object.
    private func appendStart(of path: String, _ content: Content, typed: Bool) {
        append("{\"path\":")
        appendJSONString(path)
        append(UInt8(ascii: ","))
        appendMember(content, typed: typed)
    }

    /// Appends a change without a timeline to those before it.
    public func appendChange(of path: String, _ content: Content, reported: Double? = nil, typed: Bool) {
        if !isEmpty { append(UInt8(ascii: ",")) }
        appendStart(of: path, content, typed: typed)
        if let reported { appendReported(reported) }
        append(UInt8(ascii: "}"))
    }

    private func appendReported(_ time: Double) {
        append(",\"reported\":")
        appendJSON(time)
    }

    /// The members of a frame: its time, and values that the closure writes.
    private func append(_ time: Double, _ writeValues: () -> Void) {
        append(",\"time\":")
        appendJSON(time)
        append(",\"values\":{")
        writeValues()
        append(UInt8(ascii: "}"))
    }

    private func append(_ change: Change, typed: Bool) {
        appendStart(of: change.path, change.content, typed: typed)
        appendMember(",\"timeline\":", change.timeline)
        if let reported = change.reported { appendReported(reported) }
        append(UInt8(ascii: "}"))
    }
}

extension Event {
    /// The name of the notification that contains the event.
    public var method: StaticString {
        switch self {
        case .update, .updateText: "update"
        case .invalidate: "invalidate"
        case .structure: "structure"
        case .frames, .frameSheet: "frames"
        case .completion: "completion"
        case .bookmark: "bookmark"
        case .forward: "forward"
        case .ended: "ended"
        }
    }
}
