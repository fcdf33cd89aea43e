import AttributeValues

// Replies, written directly into the buffer that is sent. A reply has no newline of its own, because it may be part of
// the list that answers a batch.
extension ByteBuffer {
    public func appendReply(_ result: Answer, to id: RequestID) {
        append("{\"jsonrpc\":\"2.0\",\"id\":")
        // Most ids are ints. This saves the general walk through a value.
        if case .int(let number) = id { append(number) } else { appendJSON(id) }
        if case .fault(let fault) = result {
            append(",\"error\":")
            append(fault)
        } else {
            append(",\"result\":")
            append(result)
        }
        append(UInt8(ascii: "}"))
    }

    private func append(_ result: Answer) {
        switch result {
        case .revision(let revision):
            appendMember("{\"revision\":", revision)
            append(UInt8(ascii: "}"))
        case .content(let content, let revision, let typed):
            append(UInt8(ascii: "{"))
            appendMember(content, typed: typed)
            appendMember(",\"revision\":", revision)
            append(UInt8(ascii: "}"))
        case .contents(let contents, let revision, let typed):
            append("{\"values\":{")
            appendSeparated(contents) { entry in
                appendJSONString(entry.path)
                append(":{")
                appendMember(entry.content, typed: typed)
                append(UInt8(ascii: "}"))
            }
            appendMember("},\"revision\":", revision)
            append(UInt8(ascii: "}"))
        case .value(let value): appendJSON(value)
        case .fault(let fault): append(fault)
        }
    }

    private func append(_ fault: RequestFault) {
        append("{\"code\":")
        append(Int64(fault.code))
        appendMember(",\"message\":", fault.failure.message)
        appendMember(",\"data\":{\"code\":", fault.failure.code.rawValue)
        appendPlace(of: fault.failure)
        append("}}")
    }
}

// Parts that replies and events share.
extension ByteBuffer {
    /// `"value":…` or `"error":…`.
    func appendMember(_ content: Content, typed: Bool) {
        switch content {
        case .value(let value):
            append("\"value\":")
            typed ? appendTypedJSON(value) : appendJSON(value)
        case .failure(let failure):
            appendMember("\"error\":{\"code\":", failure.code.rawValue)
            appendMember(",\"message\":", failure.message)
            appendPlace(of: failure)
            append(UInt8(ascii: "}"))
        }
    }

    /// The known fields of a failure, its position and its hint, each as `,"name":…`.
    func appendPlace(of failure: Failure) {
        appendMember(",\"path\":", failure.path)
        appendMember(",\"rule\":", failure.rule)
        appendMember(",\"line\":", failure.line)
        appendMember(",\"column\":", failure.column)
        appendMember(",\"hint\":", failure.hint)
    }

    // Members that follow others. A nil member is omitted.

    func appendMember(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        append(name)
        appendJSONString(text)
    }

    func appendMember(_ name: StaticString, _ number: (some FixedWidthInteger)?) {
        guard let number else { return }
        append(name)
        if number < 0 { append(UInt8(ascii: "-")) }
        append(UInt64(number.magnitude))
    }

    func appendMember(_ name: StaticString, _ object: ValueMap?) {
        guard let object else { return }
        append(name)
        appendJSON(.map(object))
    }

    func appendMember(_ name: StaticString, _ texts: [String]) {
        append(name)
        append(UInt8(ascii: "["))
        appendSeparated(texts) { appendJSONString($0) }
        append(UInt8(ascii: "]"))
    }

    func appendSeparated<Element>(_ elements: [Element], _ write: (Element) -> Void) {
        var isFirst = true
        for element in elements {
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            write(element)
        }
    }
}
