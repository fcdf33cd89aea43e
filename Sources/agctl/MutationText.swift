import AttributeValues
import WireProtocol

/// Mutations in the form that people type: one per line, `set /a.b 1`, `toggle /c.d`, or JSON as in the protocol.
enum MutationText {
    static let syntax =
        "set PATH VALUE, toggle PATH, add PATH VALUE, append PATH VALUE, insert PATH INDEX VALUE, remove PATH, merge "
        + "PATH VALUE, test PATH VALUE"

    /// A whole text: JSON if it begins as an object or a list, else lines. Empty lines and lines that begin with `#`
    /// are skipped.
    /// - Parameter name: the text's name in messages, which add the line's number.
    static func read(_ text: String, _ form: ValueForm, name: String) throws(Complaint) -> [Mutation] {
        if isJSON(text) {
            do throws(Complaint) { return try readObjects(try parse(text, form), form) } catch {
                throw error.located(at: name)
            }
        }
        var mutations: [Mutation] = []
        for (position, line) in text.lines.enumerated() {
            do throws(Complaint) {
                if let mutation = try readLine(line, form) { mutations.append(mutation) }
            } catch { throw error.located(at: "\(name):\(position + 1)") }
        }
        return mutations
    }

    /// An argument: one mutation, whose value may have several lines, or JSON.
    /// - Parameter count: the number of mutations in the arguments before it. The daemon numbers all mutations
    ///   together, so messages must do the same.
    static func readArgument(_ text: String, _ form: ValueForm, behind count: Int) throws(Complaint) -> [Mutation] {
        if isJSON(text) {
            let value: Value
            do throws(Complaint) { value = try parse(text, form) } catch { throw error.located(at: place(count)) }
            return try readObjects(value, form, behind: count)
        }
        do throws(Complaint) {
            guard let mutation = try readLine(text, form) else { throw Complaint(.data, "no mutation", hint: syntax) }
            return [mutation]
        } catch { throw error.located(at: place(count)) }
    }

    /// The position in the protocol's form.
    private static func place(_ position: Int) -> String { "mutations[\(position)]" }

    private static func isJSON(_ text: String) -> Bool {
        let start = text.first { !$0.isWhitespace }
        return start == "[" || start == "{"
    }

    /// A mutation. The value is the text after the path, without white space around it.
    /// - Returns: nil for a line without a mutation.
    static func readLine(_ line: String, _ form: ValueForm) throws(Complaint) -> Mutation? {
        var rest = Substring(line)
        guard let verb = takeWord(&rest), !verb.hasPrefix("#") else { return nil }
        guard let operation = Mutation.Operation(rawValue: verb) else {
            let known = Mutation.Operation.allCases.map(\.rawValue)
            throw Complaint(
                .data, "there is no mutation '\(verb)'", hint: NearestName.hint(verb, among: known) ?? syntax)
        }
        guard let path = takeWord(&rest), path.hasPrefix("/") else {
            throw Complaint(.data, "\(verb) needs a path", hint: syntax)
        }
        var index: Int?
        if operation == .insert {
            guard let word = takeWord(&rest), let number = Int(word), number >= 0 else {
                throw Complaint(.data, "insert needs an index and a value", hint: syntax)
            }
            index = number
        }
        let operand = rest.trimmed
        guard operation.takesValue != operand.isEmpty else {
            throw Complaint(
                .data, operation.takesValue ? "\(verb) needs a value" : "\(verb) takes no value", hint: syntax)
        }
        let value = operation.takesValue ? try form.read(operand) : nil
        return Mutation(operation: operation, path: path, value: value, index: index)
    }

    /// A line of `feed`: a mutation in words, or one in the protocol's form. Nothing inside a JSON text can end it, so
    /// nobody can make a program that writes JSON write another mutation.
    /// - Parameter form: `json` accepts the protocol's form alone.
    /// - Returns: nil for a line without a mutation.
    static func readFedLine(_ line: String, _ form: ValueForm) throws(Complaint) -> Mutation? {
        guard isJSON(line) else {
            guard form == .json, let word = line.first(where: { !$0.isWhitespace }), word != "#" else {
                return try readLine(line, form)
            }
            throw Complaint(
                .data, "not a JSON object", hint: #"with --json each line is {"op": "set", "path": …, "value": …}"#)
        }
        let value = try parse(line, form)
        guard value.list == nil else {
            throw Complaint(.data, "a line is one mutation, not a list", hint: "agctl transact takes a list")
        }
        do throws(Complaint) { return try readObjects(value, form).first } catch {
            var complaint = error
            complaint.message = error.message.replacing("\(place(0)): ", with: "").replacing(place(0), with: "mutation")
            throw complaint
        }
    }

    /// Takes the text up to the next white space outside of quotes.
    private static func takeWord(_ rest: inout Substring) -> String? {
        rest = rest.drop(while: \.isWhitespace)
        var isQuoted = false
        var isEscaped = false
        let word = rest.prefix { character in
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = isQuoted
            } else if character == "\"" {
                isQuoted.toggle()
            }
            return isQuoted || !character.isWhitespace
        }
        rest = rest.dropFirst(word.count)
        return word.isEmpty ? nil : String(word)
    }

    private static func parse(_ text: String, _ form: ValueForm) throws(Complaint) -> Value {
        // Values in JSON already have their types.
        guard form != .string else {
            throw Complaint(
                .usage, "texts without quotes go with mutations in words, not in JSON",
                hint: "in JSON, put quotes around a text, and omit --string or --raw")
        }
        return try ValueForm.json.read(text)
    }

    /// Mutations in the protocol's form, which are checked as the daemon checks them.
    private static func readObjects(_ value: Value, _ form: ValueForm, behind count: Int = 0) throws(Complaint)
        -> [Mutation]
    {
        let decoder = RequestDecoder(maximumDepth: 1024)
        return try (value.list ?? [value]).enumerated().map { (position, entry) throws(Complaint) in
            let call: Value = ["jsonrpc": "2.0", "method": "transact", "params": ["mutations": [entry]]]
            var read: Incoming?
            Array(call.jsonText.utf8).withUnsafeBufferPointer { line in decoder.decode(line) { read = $0 } }
            guard case .call(_, .transact(let mutations, _))? = read, var mutation = mutations.first else {
                guard case .fault(_, let fault)? = read else { throw Complaint(.data, "no mutation", hint: syntax) }
                let message = fault.failure.message.replacing("transact: ", with: "")
                throw Complaint(
                    .data, message.replacing(place(0), with: place(count + position)),
                    hint: fault.failure.hint ?? syntax)
            }
            if form == .typed {
                do throws(Failure) { mutation.operand = try Value(typedJSON: mutation.operand) } catch {
                    throw Complaint(.data, error.message).located(at: place(count + position))
                }
            }
            return mutation
        }
    }
}
