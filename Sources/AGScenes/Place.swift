public import AttributeValues

/// A name and the way on from it, spelled as a key path: `\.episode.isFavorite`, `\.items[0].done`, `\.items[id: "x"].done`. It is
/// a reference to an attribute in `Binding`, `Let` and the modifiers' values (`$episode.isFavorite` in YAML), and a key path
/// of a declared key in the modifiers (`\.pinPosition.rotation`).
///
/// Any name can be written; whether it is there is told when the scene is applied.
@dynamicMemberLookup
public struct Place {
    /// As a document writes it; empty for `\.self`.
    let _text: String

    init(_text: String = "") { self._text = _text }

    private func step(_ step: AttributePath.Step) -> Place { Place(_text: _text + step.description) }

    public subscript(dynamicMember name: String) -> Place {
        _text.isEmpty ? Place(_text: name) : step(.key(name))
    }

    /// An element of a list.
    public subscript(_ position: Int) -> Place { step(.index(position)) }

    /// An entry of a map whose key is no identifier.
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
