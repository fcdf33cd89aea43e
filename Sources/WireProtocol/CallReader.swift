import AttributeValues

/// A method of the table in a form that is fast to read: names and the most common shapes are plain words.
final class CallReader {
    let method: Method
    let name: PackedName
    let slots: [Slot]
    let keys: ParameterKeys
    let required: ParameterKeys

    /// The properties of a parameter that reading a call needs.
    struct Slot {
        let name: PackedName
        let key: ParameterKey
        let form: Form
        let isRequired: Bool
    }

    /// Shapes that can be checked without the table.
    enum Form { case any, string, bool, other }

    init(_ method: Method) {
        self.method = method
        name = PackedName(method.name)
        slots = method.parameters.map { parameter in
            let form: Form =
                switch parameter.field.shape {
                case .any: .any
                case .string: .string
                case .bool: .bool
                default: .other
                }
            return Slot(
                name: PackedName(parameter.field.name), key: parameter.key, form: form,
                isRequired: parameter.field.isRequired)
        }
        keys = ParameterKeys(method.parameters.map(\.key))
        required = ParameterKeys(method.parameters.filter(\.field.isRequired).map(\.key))
    }
}

extension CallReader.Form {
    /// True if the element certainly has the shape.
    func accepts(_ element: JSONElement) -> Bool {
        switch self {
        case .any: true
        case .string: element.isString
        case .bool: element.bool != nil
        case .other: false
        }
    }
}
