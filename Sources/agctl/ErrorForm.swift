import AttributeValues

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
        Terminal.write(isJSON ? json.jsonText + "\n" : text, to: .standardError)
    }
}
