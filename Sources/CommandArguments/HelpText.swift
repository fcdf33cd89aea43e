import AttributeValues

/// The help of a program and of its verbs, for people and as JSON.
package struct HelpText {
    private let program: any Verb.Type
    /// Columns that lines may take.
    private let columns: Int

    /// - Parameter width: columns of the terminal. The last one stays free.
    package init(of program: any Verb.Type, width: Int = 80) { (self.program, columns) = (program, width - 1) }

    private var verbs: [any Verb.Type]? { (program as? any ProgramWithVerbs.Type)?.verbs }

    typealias Row = (spelling: String, meaning: String)

    /// Options of every verb.
    static let standard: [Row] = [
        ("--version", "Show the version."), ("-h, --help", "Show help information."),
    ]

    /// - Parameter verb: the program itself for its overview.
    package func text(for verb: any Verb.Type) -> String {
        if verb == program, let verbs { return overview(verbs) }
        let slots = verb.init().slots
        let (operands, options) = (slots.filter { $0.form == .operand }, slots.filter { $0.form != .operand })
        let rows: [Row] = operands.map { ("<\($0.valueName)>", $0.help + HelpText.note(on: $0)) }
        let named = options.flatMap { slot in
            slot.shown.map { spelling, meaning -> Row in
                let value = slot.form == .option ? " <\(slot.valueName)>" : ""
                return (spelling + value, meaning + HelpText.note(on: slot))
            }
        }
        return sections(
            verb.help, usage: (verb == program ? [] : [verb.help.name]) + HelpText.usage(operands, options),
            [("ARGUMENTS", rows), ("OPTIONS", named + HelpText.standard)])
    }

    private func overview(_ verbs: [any Verb.Type]) -> String {
        let rows: [Row] = verbs.map {
            (([$0.help.name] + $0.help.aliases).joined(separator: ", "), $0.help.summary)
        }
        let tables = [("OPTIONS", HelpText.standard), ("VERBS", rows)]
        return sections(program.help, usage: ["<verb>"], tables)
            + "\n  See '\(program.help.name) help <verb>' for the options of a verb.\n"
    }

    /// `[<options>] <path> <value>`. Options that must be given are named.
    private static func usage(_ operands: [ArgumentSlot], _ options: [ArgumentSlot]) -> [String] {
        var words = ["[<options>]"]
        words += options.filter { !$0.isOptional }.map { $0.spelled() }
        for operand in operands {
            let terminator = operand.isBehindTerminator ? "-- " : ""
            words.append(operand.isOptional ? "[\(terminator)\(operand.spelled())]" : operand.spelled())
        }
        return words
    }

    private static func note(on slot: ArgumentSlot) -> String {
        guard slot.form != .flag else { return "" }
        let notes = [
            slot.choices.isEmpty ? nil : "values: \(slot.choices.joined(separator: ", "))",
            slot.standard.map { "default: \($0)" },
        ].compactMap(\.self)
        return notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
    }

    private func sections(
        _ help: VerbHelp, usage: [String], _ tables: [(title: String, rows: [Row])]
    ) -> String {
        var text = fill("OVERVIEW: \(help.summary)") + "\n"
        if !help.discussion.isEmpty { text += fill(help.discussion) + "\n" }
        text += "USAGE: \(([program.help.name] + usage).joined(separator: " "))\n"
        for table in tables where !table.rows.isEmpty {
            text += "\n\(table.title):\n"
            for (name, meaning) in table.rows { text += row(name, meaning) }
        }
        return text
    }

    /// The column at which meanings begin.
    private static let indent = 26

    private func row(_ name: String, _ meaning: String) -> String {
        let margin = String(repeating: " ", count: HelpText.indent)
        var lines = meaning.brokenAtWords(to: columns - HelpText.indent).map { margin + $0 }
        if name.count + 2 < HelpText.indent - 1 {
            let first = lines.isEmpty ? margin : lines.removeFirst()
            lines.insert("  " + name + first.dropFirst(2 + name.count), at: 0)
        } else {
            lines.insert("  " + name, at: 0)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Breaks each line that does not begin with spaces.
    private func fill(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).map { line in
            (line.hasPrefix(" ") ? [line] : line.brokenAtWords(to: columns)).map { $0 + "\n" }.joined()
        }.joined()
    }

    // MARK: JSON

    /// The program and all verbs with their arguments: `Scripts/manual` and `Scripts/site` read it.
    package var json: Value {
        ["help": HelpText.json(of: program), "verbs": .list((verbs ?? []).map(HelpText.json))]
    }

    private static func json(of verb: any Verb.Type) -> Value {
        let help = verb.help
        return [
            "name": .string(help.name), "summary": .string(help.summary), "discussion": .string(help.discussion),
            "aliases": .list(help.aliases.map { .string($0) }),
            "arguments": .list(verb.init().slots.map { json(of: $0) }),
        ]
    }

    private static func json(of slot: ArgumentSlot) -> Value {
        [
            "form": .string("\(slot.form)"), "value": .string(slot.valueName),
            "isOptional": .bool(slot.isOptional), "isRepeated": .bool(slot.isRepeated), "note": .string(note(on: slot)),
            "names": .list(
                ValueList(slot.shown.map { ["spelling": .string($0.spelling), "meaning": .string($0.meaning)] })),
        ]
    }
}
