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
            appendSeparated(changes) { append($0.path, $0.content, timeline: $0.timeline, $0.reported, typed) }
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
            if !details.transitions.isEmpty { appendMember(",\"transitions\":", details.transitions) }
            if !details.shown.isEmpty { appendMember(",\"shown\":", details.shown) }
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
            appendMember(",\"arguments\":", parameters)
            appendMember(",\"principal\":", principal)
            appendMember(",\"user\":", user)
        case .ended(let code, let reason):
            appendMember(",\"code\":", code.rawValue)
            appendMember(",\"reason\":", reason)
        }
        append("}}\n")
    }

    /// Appends a change without a timeline to those before it. Its members are arguments, because a change takes longer
    /// to copy.
    public func appendChange(of path: String, _ content: Content, reported: Double?, typed: Bool) {
        if !isEmpty { append(UInt8(ascii: ",")) }
        append(path, content, timeline: nil, reported, typed)
    }

    private func append(
        _ path: String, _ content: Content, timeline: ValueMap?, _ reported: Double?, _ typed: Bool
    ) {
        append("{\"path\":")
        appendJSONString(path)
        append(UInt8(ascii: ","))
        appendMember(content, typed: typed)
        appendMember(",\"timeline\":", timeline)
        if let reported {
            append(",\"reported\":")
            appendJSON(reported)
        }
        append(UInt8(ascii: "}"))
    }

    /// The members of a frame: its time, and values that the closure writes.
    private func append(_ time: Double, _ writeValues: () -> Void) {
        append(",\"time\":")
        appendJSON(time)
        append(",\"values\":{")
        writeValues()
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
