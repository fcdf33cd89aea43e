/// The names of the functions and operators that rules can call, for editors.
package enum RuleWords {
    package static let functions: [String] = {
        let operators = TimeOperator.Kind.allCases.map(\.rawValue)
        let names = FunctionTable.standard.keys.filter { $0.first?.isLetter ?? false }
        return Set(names + operators).sorted()
    }()
}
