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
                .usage, "--string goes with mutations in words, not in JSON", hint: "in JSON, put quotes around a text")
        }
        return try ValueForm.json.read(text)
    }

    private static func readObjects(_ value: Value, _ form: ValueForm, behind count: Int = 0) throws(Complaint)
        -> [Mutation]
    {
        try (value.list ?? [value]).enumerated().map { (position, entry) throws(Complaint) in
            do throws(Complaint) { return try readObject(entry, form) } catch {
                throw error.located(at: place(count + position))
            }
        }
    }

    /// A mutation in the protocol's form. Everything that the protocol does not define is refused.
    private static func readObject(_ entry: Value, _ form: ValueForm) throws(Complaint) -> Mutation {
        guard let map = entry.map, let word = map["op"]?.string, let path = map["path"]?.string else {
            throw Complaint(.data, "no object with op and path", hint: #"{"op": "set", "path": "/a.b", "value": 1}"#)
        }
        guard let operation = Mutation.Operation(rawValue: word) else {
            let known = Mutation.Operation.allCases.map(\.rawValue)
            throw Complaint(.data, "there is no op '\(word)'", hint: NearestName.hint(word, among: known) ?? syntax)
        }
        let members = ["op", "path", "value", "index"]
        if let other = map.keys.compactMap(\.string).first(where: { !members.contains($0) }) {
            throw Complaint(
                .data, "a mutation has no member '\(other)'",
                hint: NearestName.hint(other, among: members) ?? "its members are \(members.joined(separator: ", "))")
        }
        guard operation.takesValue == (map["value"] != nil) else {
            throw Complaint(
                .data, operation.takesValue ? "\(word) needs a value" : "\(word) takes no value", hint: syntax)
        }
        var operand = map["value"]
        if form == .typed, let given = operand {
            do throws(Failure) { operand = try Value(typedJSON: given) } catch { throw Complaint(.data, error.message) }
        }
        return Mutation(
            operation: operation, path: path, value: operand, index: try readIndex(map["index"], of: operation))
    }

    private static func readIndex(_ value: Value?, of operation: Mutation.Operation) throws(Complaint) -> Int? {
        guard let value else { return nil }
        guard operation == .insert else { throw Complaint(.data, "only insert takes an index") }
        guard case .int(let number) = value, number >= 0 else {
            throw Complaint(
                .data, "an index is a whole number from 0, not \(value.jsonText)",
                hint: "without an index, insert adds at the end")
        }
        return Int(number)
    }
}
