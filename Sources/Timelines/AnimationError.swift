/// The reason why an animation was refused.
public struct AnimationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence without its full stop that says what is wrong.
    public let message: String
    /// The position of the error: a UTF-8 offset into the text form.
    public let offset: Int?
    /// The position of the error: a JSON pointer into the JSON form.
    public let pointer: String?
    /// A suggestion what to write instead, if there is one.
    public let hint: String?

    public init(_ message: String, offset: Int? = nil, pointer: String? = nil, hint: String? = nil) {
        self.message = message
        self.offset = offset
        self.pointer = pointer
        self.hint = hint
    }

    init(_ message: String, at position: PartPosition, hint: String? = nil) {
        switch position {
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

/// The position of a part of an animation in its source.
enum PartPosition: Hashable, Sendable {
    case offset(Int)
    case pointer(String)
    case nowhere
}
