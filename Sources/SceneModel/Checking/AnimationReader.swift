import AttributeValues
import Timelines

// Reads curves and transitions.
extension ExpressionReader {
    /// The text form of an animation, which may be written in either form; nil after adding a fault.
    func readAnimation(_ node: DocumentNode) -> String? {
        do throws(AnimationError) {
            if let text = node.string {
                _ = try Animation(text)
                return text
            }
            return try Animation(node.value).description
        } catch {
            refuse(error, at: node)
            return nil
        }
    }

    /// A transition; nil after adding a fault.
    func readTransition(_ node: DocumentNode) -> Transition? {
        guard let text = node.string else {
            return cursor.refuse(
                "a transition is a text, not \(node.summary)", at: node, hint: "write transition: opacity")
        }
        do throws(AnimationError) { return try Transition(text) } catch {
            refuse(error, at: node)
            return nil
        }
    }

    private func hintForSign(_ node: DocumentNode) -> String? {
        guard let sign = node.string?.first, sign == "=" || sign == "$" else { return nil }
        return "it is a fixed text, neither a rule nor a reference: write one for each case, in the branches of an if"
    }

    private func refuse(_ error: AnimationError, at node: DocumentNode) {
        var position = node.position
        if let offset = error.offset, let text = node.string {
            let column = String(decoding: text.utf8.prefix(offset), as: UTF8.self).unicodeScalars.count + 1
            position = cursor.faults.lines?.locate(1, column, in: node) ?? position
        }
        let message = error.pointer.map { $0.isEmpty ? error.message : "\(error.message) at \($0)" } ?? error.message
        cursor.faults.add(
            SceneFault(
                .invalid, message, place: cursor.place, position: position, hint: error.hint ?? hintForSign(node)))
    }
}
