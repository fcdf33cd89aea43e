import AttributeValues

/// How standard error is written: as `--json` and `--color` say.
struct ErrorForm {
    var isJSON = false
    var color = ColorChoice.auto

    /// Of the text; JSON has no colours.
    var style: Style { Style(isOn: !isJSON && Terminal.isColored(.standardError, choice: color)) }

    /// - Parameters:
    ///   - text: whole lines.
    ///   - json: the same for programs.
    func tell(_ text: String, _ json: Value) {
        Terminal.write(isJSON ? json.jsonText + "\n" : text, to: .standardError)
    }
}
