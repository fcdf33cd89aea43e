import AttributeValues
import CommandArguments
import WireProtocol

/// The conversion of text on the command line to a value.
enum ValueForm {
    /// JSON if the text is valid JSON, else the text itself.
    case auto
    case string
    case json
    /// Typed JSON, as `{"uint":"5"}`.
    case typed

    /// - Throws: `data` for text that does not have the requested form.
    func read(_ text: String) throws(Complaint) -> Value {
        if case .string = self { return .string(text) }
        do throws(Failure) {
            let value = try JSONParser.parseOnce(text.utf8)
            return self == .typed ? try Value(typedJSON: value) : value
        } catch {
            // A text in the form of JSON is treated as JSON, even if its value is out of range. `6e415abc` is text.
            if error.code == .limit, self != .auto || JSONFault.find(in: text) == nil {
                throw Complaint(
                    .data, error.message, hint: self == .auto ? "to write it as text, use --string" : error.hint)
            }
            if self == .auto { return .string(text) }
            // Texts that are not JSON have a position of the fault. Otherwise the typed form is wrong.
            guard let fault = JSONFault.find(in: text) else {
                throw Complaint(.data, "\(text.prefix(60)): \(error.message)")
            }
            throw Complaint(fault, of: text)
        }
    }
}

extension ValueForm {
    /// A text of somebody who does not know the type: JSON if that fits the type, otherwise the text itself.
    static func read(_ text: String, as type: ValueType) -> Value {
        // Numbers that no type can represent are texts here.
        guard let value = try? JSONParser.parseOnce(text.utf8) else { return .string(text) }
        if case .object = type { return value }
        return type.accept(value) == nil ? .string(text) : value
    }
}

struct ValueOptions: Arguments {
    @Flag(help: "Take the value as text, even if it is JSON.")
    var string = false

    @Flag(help: #"Take the value as typed JSON, as {"uint":"5"}."#)
    var typed = false

    func validate() throws(UsageError) {
        if string, typed { throw UsageError("--string and --typed contradict each other") }
    }

    var form: ValueForm { string ? .string : typed ? .typed : .auto }
}

/// The options of verbs that change something.
struct WriteOptions: Arguments {
    @Option(
        help: ArgumentHelp(
            "How displayed values move, as 'easeInOut(duration: 1)', 'spring', or the JSON form.", valueName: "curve"),
        completion: Suggestions.curves) var animation: String?

    @Flag(help: "Animate nothing, even if the scene has animations.")
    var noAnimation = false

    @Option(help: "A label that events and explanations show.")
    var label: String?

    func validate() throws(UsageError) {
        if animation != nil, noAnimation {
            throw UsageError("--animation and --no-animation contradict each other")
        }
    }

    /// - Parameter typed: true if values were read from typed JSON. They are then sent as typed JSON.
    func makeOptions(typed: Bool = false, once: String? = nil) -> TransactionOptions {
        TransactionOptions(
            animation: animation.map(WriteOptions.curve), disablesAnimations: noAnimation,
            label: label, typed: typed, once: once)
    }

    /// The animation in the form that is sent: the JSON form, or else the text, which the daemon reads.
    static func curve(_ text: String) -> Value {
        let value = (try? ValueForm.json.read(text)) ?? .string(text)
        return value.map == nil ? .string(text) : value
    }
}

/// The option of verbs that write values.
struct RepetitionOptions: Arguments {
    @Option(
        help: ArgumentHelp(
            "An identifier that you choose. If you have used it before, the request changes nothing.", valueName: "id"))
    var once: String?
}
