import AttributeGraph
import AttributeValues

// A client that may read only a part of the tree is told nothing of the rest.

extension Wiring {
    func isVisible(node row: NodeRow) -> Bool {
        guard let mayRead else { return true }
        return mayRead(AttributePath(nodes: nodes.ids(of: row)))
    }

    /// True if the client may know a vertex. A vertex without a name, for example of a modifier, counts as its whole
    /// node.
    public func isVisible(_ attribute: AttributeID) -> Bool {
        guard let mayRead else { return true }
        guard engine.isAlive(attribute), let record = attributes[attribute] else { return false }
        var row = record.node
        var name: String? = record.isHidden && record.place == nil ? nil : record.name
        while nodes[row].isObject {
            name = nodes[row].id.text
            row = nodes[row].parent
        }
        return mayRead(AttributePath(nodes: nodes.ids(of: row), attribute: name))
    }

    /// The same for an attribute, by its node and name.
    func isVisible(_ name: String, of row: NodeRow) -> Bool {
        guard let mayRead else { return true }
        return mayRead(AttributePath(nodes: nodes.ids(of: row), attribute: name))
    }

    /// A content as it is told to the client of the current request.
    public func shown(_ content: Content, of attribute: AttributeID) -> Content {
        guard mayRead != nil, case .failure(let failure) = content else { return content }
        return .failure(shown(failure, of: attribute))
    }

    /// An error as it is told to the client of the current request. The client gets only the code if the error comes
    /// from an attribute that it may not read, or has passed through one. O(attributes with that error upstream), which
    /// is charged to the request.
    public func shown(_ failure: Failure, of attribute: AttributeID) -> Failure {
        if mayRead == nil { return failure }
        var seen: Set<AttributeID> = [attribute]
        var pending = [attribute]
        while let next = pending.popLast() {
            stepsLeft -= Wiring.stepsPerCause
            guard isVisible(next), stepsLeft > 0 else {
                return Failure(failure.code, "it depends on an attribute that has an error")
            }
            // An attribute that was never read has no inputs before this read.
            _ = content(of: next)
            for input in engine.inputs(of: next) where engine.lastValue(of: input)?.failure == failure {
                if seen.insert(input).inserted { pending.append(input) }
            }
        }
        return failure
    }

    /// Steps for each attribute that an error has passed through.
    private static let stepsPerCause = 20
}
