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
            appendMember(revision: revision)
            if let from {
                append(",\"from\":")
                append(from)
            }
            if let label {
                append(",\"label\":")
                appendJSONString(label)
            }
            if let writer {
                append(",\"writer\":")
                appendJSONString(writer)
            }
            if isInitial { append(",\"initial\":true") }
            append(",\"changes\":[")
            appendSeparated(changes) { append($0, typed: typed) }
            append(UInt8(ascii: "]"))
        case .invalidate(let revision, let paths):
            appendMember(revision: revision)
            append(",\"paths\":")
            appendJSON(paths)
        case .structure(let revision, let added, let removed, let moved, let details):
            appendMember(revision: revision)
            append(",\"added\":")
            appendJSON(added)
            append(",\"removed\":")
            appendJSON(removed)
            append(",\"moved\":")
            appendJSON(moved)
            if let timeline = details?.timeline {
                append(",\"timeline\":")
                appendJSON(timeline)
            }
            if let transitions = details?.transitions, !transitions.isEmpty {
                append(",\"transitions\":")
                appendJSON(.map(transitions))
            }
            if let shown = details?.shown, !shown.isEmpty {
                append(",\"shown\":")
                appendJSON(.map(shown))
            }
        case .frames(let time, let values):
            append(",\"time\":")
            appendJSON(time)
            append(",\"values\":{")
            appendSeparated(values) { entry in
                appendJSONString(entry.path)
                append(UInt8(ascii: ":"))
                appendJSON(entry.value)
            }
            append(UInt8(ascii: "}"))
        case .frameSheet(let time, let members):
            append(",\"time\":")
            appendJSON(time)
            append(",\"values\":{")
            append(members)
            append(UInt8(ascii: "}"))
        case .completion(let revision, let transaction, let phase, let paths):
            appendMember(revision: revision)
            append(",\"transaction\":")
            append(transaction)
            append(",\"phase\":")
            appendJSONString(phase)
            append(",\"paths\":")
            appendJSON(paths)
        case .bookmark(let epoch, let revision):
            append(",\"epoch\":")
            appendJSONString(epoch)
            appendMember(revision: revision)
        case .forward(let number, let method, let parameters, let principal, let user):
            append(",\"forward\":")
            append(number)
            append(",\"call\":")
            appendJSONString(method)
            append(",\"arguments\":")
            appendJSON(.map(parameters))
            if let principal {
                append(",\"principal\":")
                appendJSONString(principal)
            }
            append(",\"user\":")
            append(Int64(user))
        case .ended(let code, let reason):
            append(",\"code\":")
            appendJSONString(code.rawValue)
            append(",\"reason\":")
            appendJSONString(reason)
        }
        append("}}\n")
    }

    private func appendMember(revision: UInt64) {
        append(",\"revision\":")
        append(revision)
    }

    private func append(_ change: Change, typed: Bool) {
        append("{\"path\":")
        appendJSONString(change.path)
        append(UInt8(ascii: ","))
        appendMember(change.content, typed: typed)
        if let timeline = change.timeline {
            append(",\"timeline\":")
            appendJSON(timeline)
        }
        append(UInt8(ascii: "}"))
    }
}

extension Event {
    /// The name of the notification that contains the event.
    public var method: StaticString {
        switch self {
        case .update: "update"
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
