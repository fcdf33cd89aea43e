/// Why an animation was refused.
public struct AnimationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as a sentence without its full stop.
    public let message: String
    /// Where: the UTF-8 offset into the text form.
    public let offset: Int?
    /// Where: a JSON pointer into the JSON form.
    public let pointer: String?
    /// What to write instead, where that can be told.
    public let hint: String?

    public init(_ message: String, offset: Int? = nil, pointer: String? = nil, hint: String? = nil) {
        self.message = message
        self.offset = offset
        self.pointer = pointer
        self.hint = hint
    }

    init(_ message: String, at place: Place, hint: String? = nil) {
        switch place {
        case .offset(let offset): self.init(message, offset: offset, hint: hint)
        case .pointer(let pointer): self.init(message, pointer: pointer, hint: hint)
        case .nowhere: self.init(message, hint: hint)
        }
    }

    public var description: String {
        var text = message
        if let offset { text += " at character \(offset + 1)" }
        if let pointer, !pointer.isEmpty { text += " at \(pointer)" }
        if let hint { text += "; \(hint)" }
        return text
    }
}

/// Where a part of an animation was written.
enum Place: Hashable, Sendable {
    case offset(Int)
    case pointer(String)
    case nowhere
}
