import AttributeGraph
import AttributeValues
import SceneModel

// An attribute with a type has values of that type, wherever they come from.

extension Wiring {
    /// True if a vertex of a type reads, through an alias, values that may have another type.
    func needsConversion(_ type: ValueType, _ source: Source) -> Bool {
        switch source {
        case .selected, .rooted: return type != .dyn
        default: break
        }
        guard type != .dyn, case .alias(let target, _) = source else { return false }
        return type.mustConvert(declaredType(of: target))
    }

    /// The type that every value at a place has. For a reference that may find no object, it is the type of the object.
    func declaredType(of place: Place) -> ValueType {
        let place = follow(place)
        guard let record = attributes[place.attribute] else { return .dyn }
        if case .object(let node) = record.source, nodes.isAlive(node), place.steps.isEmpty,
            let name = nodes[node].definition.component
        {
            return .object(name)
        }
        return declarations.type(at: place.steps, in: record.type)
    }

    /// Converts a content to a type. A value that does not fit becomes a failure that names both types.
    /// - Parameter given: the type that the content is known to have.
    @inline(never)
    func convert(_ content: Content, of given: ValueType, to type: ValueType, at attribute: AttributeID) -> Content {
        guard case .value(let value) = content else { return content }
        // An object of another type does not fit, even if it has the same properties.
        if let found = given.objectName, let wanted = type.objectName, found != wanted, value != .null {
            let path = path(of: attribute)
            return .failure(
                Failure(
                    .typeMismatch, "\(path) takes \(wanted), not \(found)", path: path,
                    hint: "give it an object of type \(wanted)"))
        }
        if let fitting = declarations.accept(value, as: type, withComputed: true) { return .value(fitting) }
        let path = path(of: attribute)
        let misfit = Misfit(of: value, in: type, declarations, withComputed: true)
        return .failure(misfit.refusal(at: path, path: path, unknown: .typeMismatch))
    }
}
