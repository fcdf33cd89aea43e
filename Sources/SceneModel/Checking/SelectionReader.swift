import AttributeValues
import RuleLanguage

// Reads references that a rule chooses.
extension ExpressionReader {
    struct Chosen {
        var selection: Selection
        var type: ValueType
        /// The names that the rule chooses from.
        var entries: [ScopeEntry]
        /// The reason why it cannot be written through; nil if it can.
        var obstacle: String?
    }

    /// True if rules choose some steps of a reference.
    static func isSelection(_ reference: String) -> Bool {
        !reference.hasPrefix("/") && (try? AttributePath("/." + reference)) == nil
            && reference.utf8.contains(UInt8(ascii: "["))
    }

    /// - Parameter text: the text of the rule, without `=`.
    func choose(_ text: String, in scope: ExpressionScope, at node: DocumentNode) -> Chosen? {
        let parts = SelectionText(text)
        if let problem = parts.problem {
            return cursor.refuse(
                "'\(text)' chooses no reference: \(problem)", at: node,
                hint: "write =cond ? $a : $b, or $items[id=name]")
        }
        var found: ValueType?
        var obstacle: String?
        var entries: [ScopeEntry] = []
        for target in parts.targets {
            guard let entry = findAttribute(target.name, in: scope.lexical, at: node),
                let (type, property) = part(target, of: entry.type, at: node)
            else { return nil }
            entries.append(entry)
            obstacle = obstacle ?? entry.obstacle(behind: target.steps.count, property)
            found = found.map { $0 == type ? $0 : .dyn } ?? type
        }
        do throws(RuleErrors) {
            let program = try compileUnchecked(parts.rule, in: scope.rules)
            return Chosen(
                selection: Selection(text: text, program: program, targets: parts.targets), type: found ?? .dyn,
                entries: entries, obstacle: obstacle)
        } catch {
            // Positions in the rule differ from those in the text. The rule has lists in the place of references.
            for one in error.errors {
                let message = one.message.split(separator: "list(dyn)", omittingEmptySubsequences: false)
                cursor.fault(
                    one.code, "in '\(text)': " + message.joined(separator: "reference"), at: node,
                    hint: message.count > 1 ? "let each result be a $name" : one.hint)
            }
            return nil
        }
    }

    private func part(_ target: Selection.Target, of whole: ValueType, at node: DocumentNode) -> (
        ValueType, ObjectProperty?
    )? {
        var type = whole
        var object: ObjectProperty?
        for step in target.steps {
            let fixed: AttributePath.Step
            switch step {
            case .fixed(let step): fixed = step
            case .element(let field): fixed = .element(field: field, value: .null)
            case .part:
                if type.objectName != nil {
                    type = .dyn
                    continue
                }
                fixed = .index(0)
            }
            guard let (part, property) = findPart([fixed], of: type, named: target.name, at: node) else { return nil }
            type = part
            object = property ?? object
        }
        return (type, object)
    }
}
