import CLibYAML

/// A text as a sequence of document events.
protocol DocumentEvents: AnyObject {
    /// The next event. There is none after an error or the end of the stream.
    func next() throws(YAMLError) -> YAMLEvent
}

struct YAMLEvent {
    enum Kind {
        case streamStart, streamEnd, documentStart, documentEnd, alias, scalar, listStart, listEnd, mapStart, mapEnd
    }

    var kind: Kind
    /// The unescaped text of a scalar, or the anchor of an alias.
    var text = ""
    var anchor: String?
    /// A written tag: for YAML's own tags the suffix (`str`), else the whole tag.
    var tag: String?
    var style = DocumentNode.Style.none
    var position: SourcePosition
}

struct YAMLError: Error {
    var message: String
    var position: SourcePosition
}

/// libyaml's parser in Swift. Only this file accesses its memory.
///
/// The reader owns a copy of the text and the parser's state from `init` to `deinit`. Before `next` returns, it copies
/// the event and releases libyaml's memory, so no pointer of libyaml's escapes.
final class YAMLEventReader: DocumentEvents {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeMutablePointer<UInt8>
    private let count: Int

    init(_ text: String) {
        count = text.utf8.count
        bytes = .allocate(capacity: max(1, count))
        _ = UnsafeMutableBufferPointer(start: bytes, count: count).initialize(from: text.utf8)
        parser = .allocate(capacity: 1)
        precondition(yaml_parser_initialize(parser) == 1, "no memory for a YAML parser")
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes, count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        bytes.deallocate()
    }

    func next() throws(YAMLError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw error }
        defer { yaml_event_delete(&event) }
        var made = YAMLEvent(kind: .streamStart, position: position(event.start_mark))
        switch event.type {
        case YAML_STREAM_START_EVENT: made.kind = .streamStart
        case YAML_DOCUMENT_START_EVENT: made.kind = .documentStart
        case YAML_DOCUMENT_END_EVENT: made.kind = .documentEnd
        case YAML_SEQUENCE_END_EVENT: made.kind = .listEnd
        case YAML_MAPPING_END_EVENT: made.kind = .mapEnd
        case YAML_ALIAS_EVENT:
            made.kind = .alias
            made.text = string(event.data.alias.anchor) ?? ""
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            made.kind = .scalar
            made.text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            made.anchor = string(scalar.anchor)
            made.tag = tag(scalar.tag)
            made.style = style(scalar.style)
        case YAML_SEQUENCE_START_EVENT:
            made.kind = .listStart
            made.anchor = string(event.data.sequence_start.anchor)
            made.tag = tag(event.data.sequence_start.tag)
        case YAML_MAPPING_START_EVENT:
            made.kind = .mapStart
            made.anchor = string(event.data.mapping_start.anchor)
            made.tag = tag(event.data.mapping_start.tag)
        default: made.kind = .streamEnd
        }
        return made
    }

    private func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? { text.map { String(cString: $0) } }

    private func tag(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        guard let tag = string(text) else { return nil }
        let prefix = "tag:yaml.org,2002:"
        return tag.hasPrefix(prefix) ? String(tag.dropFirst(prefix.count)) : tag
    }

    private func style(_ style: yaml_scalar_style_t) -> DocumentNode.Style {
        switch style {
        case YAML_PLAIN_SCALAR_STYLE: .plain
        case YAML_SINGLE_QUOTED_SCALAR_STYLE: .singleQuoted
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE: .doubleQuoted
        default: .block
        }
    }

    private func position(_ mark: yaml_mark_t) -> SourcePosition {
        SourcePosition(line: mark.line + 1, column: mark.column + 1)
    }

    private var error: YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
        let context = parser.pointee.context.map { " " + String(cString: $0) } ?? ""
        // Faults of the encoding have only an offset from the start.
        if parser.pointee.error == YAML_READER_ERROR {
            var position = SourcePosition(line: 1, column: 1)
            for byte in UnsafeBufferPointer(start: bytes, count: parser.pointee.problem_offset) {
                if byte == 10 {
                    position.line += 1
                    position.column = 1
                } else if byte & 0xc0 != 0x80 {
                    position.column += 1
                }
            }
            return YAMLError(message: problem, position: position)
        }
        if let opened { return opened }
        return YAMLError(message: problem + context, position: position(parser.pointee.problem_mark))
    }

    /// The construct that is open at the end of the text, reported at its beginning.
    private var opened: YAMLError? {
        let ending = UnsafeBufferPointer(start: bytes, count: count).reduce(0) { $1 & 0xc0 != 0x80 ? $0 + 1 : $0 }
        guard parser.pointee.problem_mark.index >= ending,
            let context = parser.pointee.context.map({ String(cString: $0) })
        else { return nil }
        let message: String
        switch context {
        case "while scanning a quoted scalar": message = "the quote that opens here does not end"
        case "while parsing a flow sequence": message = "the [ that opens here is not closed"
        case "while parsing a flow mapping": message = "the { that opens here is not closed"
        default: return nil
        }
        return YAMLError(message: message, position: position(parser.pointee.context_mark))
    }
}
