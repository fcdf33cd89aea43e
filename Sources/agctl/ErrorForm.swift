import AttributeValues
import CommandArguments

/// The form of standard error, as `--json` and `--color` request.
struct ErrorForm {
    var isJSON = false
    var color = ColorChoice.auto

    /// The style of the text. JSON has no colours.
    var style: Style { Style(isOn: !isJSON && Terminal.isColored(.standardError, choice: color)) }

    /// - Parameters:
    ///   - text: complete lines.
    ///   - json: the same for programs.
    func tell(_ text: String, _ json: Value) {
        Terminal.write(isJSON ? json.jsonText.printable + "\n" : text, to: .standardError)
    }
}

extension ErrorForm {
    /// Determined before the arguments are read, because they may be wrong.
    init(asked arguments: [String]) {
        let options = arguments.prefix { $0 != "--" }
        isJSON = options.contains("--json")
        for (word, next) in zip(options, options.dropFirst() + [""]) {
            let (name, value) = ArgumentReader.parts(of: word)
            if name == "--color" { color = ColorChoice(rawValue: value ?? next) ?? color }
        }
    }
}
