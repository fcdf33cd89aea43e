import AttributeValues

extension Animation {
    /// Reads the text form: a curve and modifiers as in Swift, `easeInOut(duration: 1).delay(0.2)`.
    ///
    /// A leading dot or `Animation.` is allowed. Parentheses without arguments may be omitted.
    public init(_ text: String) throws(AnimationError) { try self.init(try Animation.parseCalls(text)) }

    static func parseCalls(_ text: String) throws(AnimationError) -> [Call] {
        guard text.utf8.count <= AnimationLimits.textLength else {
            throw AnimationError(
                "an animation's text is at most \(AnimationLimits.textLength) bytes long, not \(text.utf8.count)")
        }
        var parser = Parser(bytes: Array(text.utf8))
        let calls = try parser.chain(depth: 0)
        parser.skipSpace()
        guard parser.isAtEnd else { throw parser.unexpected("the end, or a dot and a modifier") }
        return calls
    }
}

/// Recursive descent over `chain = [.] call { . call }`, `call = name [ ( argument {, argument} ) ]`,
/// `argument = [name :] (number | true | false | chain)`. Nesting is bounded by `AnimationLimits.nesting`.
private struct Parser {
    let bytes: [UInt8]
    var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }
    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || (0x09...0x0D).contains(byte) { at += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    func unexpected(_ wanted: String) -> AnimationError {
        guard at < bytes.count else { return AnimationError("expected \(wanted), but the text ends", offset: at) }
        let rest = String(decoding: bytes[at...].prefix(16), as: UTF8.self)
        return AnimationError("expected \(wanted), not '\(rest.first.map(String.init) ?? "")'", offset: at)
    }

    mutating func chain(depth: Int) throws(AnimationError) -> [Call] {
        skipSpace()
        guard depth < AnimationLimits.nesting else {
            throw AnimationError("an animation is nested too deep", offset: at)
        }
        _ = take(".")
        var calls = [try call(depth: depth)]
        if calls[0].name == "Animation", calls[0].arguments.isEmpty, take(".") { calls = [try call(depth: depth)] }
        while take(".") {
            guard calls.count <= AnimationLimits.modifiers else {
                throw AnimationError("an animation has at most \(AnimationLimits.modifiers) modifiers", offset: at)
            }
            calls.append(try call(depth: depth))
        }
        return calls
    }

    private mutating func name() -> String? {
        skipSpace()
        let start = at
        while let byte = next, byte.beginsName || (at > start && byte.isDigit) { at += 1 }
        return at > start ? String(decoding: bytes[start..<at], as: UTF8.self) : nil
    }

    private mutating func call(depth: Int) throws(AnimationError) -> Call {
        skipSpace()
        let start = at
        guard let name = name() else { throw unexpected("the name of a curve or modifier") }
        var call = Call(name, at: .offset(start))
        guard take("(") else { return call }
        if take(")") { return call }
        repeat {
            guard call.arguments.count < AnimationLimits.keyframes + 1 else {
                throw AnimationError("'\(name)' has too many arguments", offset: at)
            }
            call.arguments.append(try argument(depth: depth))
        } while take(",")
        guard take(")") else { throw unexpected("',' or ')'") }
        return call
    }

    private mutating func argument(depth: Int) throws(AnimationError) -> Argument {
        skipSpace()
        let start = at
        var label: String?
        if let word = name() {
            if take(":") { label = word } else { at = start }
        }
        skipSpace()
        let position = PartPosition.offset(start)
        if let byte = next,
            byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
                || (byte == UInt8(ascii: ".") && at + 1 < bytes.count && bytes[at + 1].isDigit)
        {
            return Argument(label, .number(try number()), at: position)
        }
        let calls = try chain(depth: depth + 1)
        if calls.count == 1, calls[0].arguments.isEmpty, calls[0].name == "true" || calls[0].name == "false" {
            return Argument(label, .boolean(calls[0].name == "true"), at: position)
        }
        return Argument(label, .chain(calls), at: position)
    }

    private mutating func number() throws(AnimationError) -> Double {
        let start = at
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { at += 1 }
        digits()
        if next == UInt8(ascii: "."), at + 1 < bytes.count, bytes[at + 1].isDigit {
            at += 1
            digits()
        }
        if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
            at += 1
            if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { at += 1 }
            digits()
        }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        guard let value = Double(text) else { throw AnimationError("'\(text)' is not a number", offset: start) }
        guard value.isFinite else { throw AnimationError("\(text) is too great", offset: start) }
        return value
    }

    private mutating func digits() {
        while let byte = next, byte.isDigit { at += 1 }
    }
}
