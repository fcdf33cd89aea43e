import AttributeGraph
import AttributeValues
import SceneModel

// What is written with a type gives values of that type, wherever they come from.

extension Wiring {
    /// Whether a vertex of a type reads, through an alias, what may have another type.
    func needsHolding(_ type: ValueType, _ source: Source) -> Bool {
        switch source {
        case .selected, .rooted: return type != .dyn
        default: break
        }
        guard type != .dyn, case .alias(let target, _) = source else { return false }
        return type.mustHold(declaredType(of: target))
    }

    /// The type that whatever stands at a place has for sure. A reference that may find no object has that of the one
    /// it finds.
    func declaredType(of place: Place) -> ValueType {
        let place = follow(place)
        guard let record = attributes[Int(place.attribute.index)] else { return .dyn }
        if case .object(let node) = record.source, nodes.isAlive(node), place.steps.isEmpty,
            let name = nodes[Int(node)].definition.component
        {
            return .object(name)
        }
        return declarations.type(at: place.steps, in: record.type)
    }

    /// A content as a type holds it, widened or read; the refusal that names both types where it does not fit.
    /// - Parameter given: the type that it has for sure.
    @inline(never)
    func hold(_ content: Content, of given: ValueType, to type: ValueType, at attribute: AttributeID) -> Content {
        guard case .value(let value) = content else { return content }
        // An object of another type may have the same properties, and is another all the same.
        if let found = given.objectName, let wanted = type.objectName, found != wanted, value != .null {
            let path = path(of: attribute)
            return .failure(
                Failure(
                    .typeMismatch, "\(path) holds \(wanted), not \(found)", path: path,
                    hint: "give it an object of type \(wanted)"))
        }
        if let fitting = declarations.accept(value, as: type, withComputed: true) { return .value(fitting) }
        let path = path(of: attribute)
        let misfit = Misfit(of: value, in: type, declarations, withComputed: true)
        return .failure(misfit.refusal(at: path, path: path, unknown: .typeMismatch))
    }
}
