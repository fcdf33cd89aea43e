import AttributeValues
import SceneModel

extension Wiring {
    /// Refuses a document whose nodes were elsewhere, if there is a node at that place: only a start gives stored
    /// values to other nodes.
    func refuseFormerPlaces(of scene: SceneDefinition, at top: NodeRow) throws(Failure) {
        if !scene.hasFormerPlaces { return }
        let place = nodes.keyIDs(of: top)
        var pending = scene.nodes.map { (node: $0, now: place, before: place) }
        while let (node, parent, before) = pending.popLast() {
            let now = parent + [node.id]
            if let former = node.former?.ids(below: before), let there = nodes.node(withKey: former) {
                let (old, path) = (nodes.path(of: there), AttributePath.describe(nodes: now))
                throw Failure(
                    .conflict, "\(path) was \(old), but \(old) is still there", path: path,
                    hint: "leave was out, or remove \(old); nodes of a scene keep their values when the daemon starts "
                        + "with the scene in its new form")
            }
            let below =
                node.header + node.children + node.footer + (node.kind == .choice ? node.forEach?.templates ?? [] : [])
            let then = node.former?.ids(below: before) ?? before + [node.id]
            pending += below.map { ($0, now, then) }
        }
    }
}
