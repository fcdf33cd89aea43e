public import AttributeValues

/// A name and a path into its value, written as a key path: `\.episode.isFavorite`, `\.items[0].done`,
/// `\.items[id: "x"].done`. In `Binding`, `Let` and the values of modifiers, it is a reference to an attribute
/// (`$episode.isFavorite` in YAML). In the keys of modifiers, it is the key path of a declared key
/// (`\.pinPosition.rotation`).
///
/// Any name compiles. The daemon reports names that do not exist when the scene is applied.
@dynamicMemberLookup
public struct Place {
    /// The document's form; empty for `\.self`.
    let _text: String

    init(_text: String = "") { self._text = _text }

    private func step(_ step: AttributePath.Step) -> Place { Place(_text: _text + step.description) }

    public subscript(dynamicMember name: String) -> Place {
        _text.isEmpty ? Place(_text: name) : step(.key(name))
    }

    /// An element of a list.
    public subscript(_ position: Int) -> Place { step(.index(position)) }

    /// An entry of a map whose key is not an identifier.
    public subscript(_ key: String) -> Place { step(.key(key)) }

    /// The element of a list that has this id.
    public subscript(id id: String) -> Place { step(.element(field: "id", value: .string(id))) }
    public subscript(id id: Int) -> Place { step(.element(field: "id", value: .int(Int64(id)))) }

    /// The first element of a list whose field has this value.
    public subscript(field: String, is value: Value) -> Place { step(.element(field: field, value: value)) }
}

/// `\.episode.isFavorite`.
public typealias PlacePath = KeyPath<Place, Place>

extension KeyPath where Root == Place, Value == Place {
    var text: String { Place()[keyPath: self]._text }
}
