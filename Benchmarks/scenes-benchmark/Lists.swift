import AttributeGraph
import AttributeValues
import SceneModel
import TestSupport
import ViewGraph

// One insertion, move, removal or write in a list whose elements are all shown by watched instances. The cost beyond
// copying and comparing the list must not grow with it: rules run and vertices touched are counted.

private func element(_ number: Int) -> Value { ["id": .string("element\(number)"), "n": .int(Int64(number))] }

func changeLists(of count: Int) throws {
    let scene = try SceneReader.read(text: listScene)
    let graph = ViewGraph(wallTime: .epoch)
    graph.perform(try graph.planned(scene, at: .root, .create).plan)
    let path = try AttributePath("/app.items")

    /// A transaction and what a runtime does after it: the tree settled, whatever is watched and may have changed read.
    func transact(at path: AttributePath, _ change: (Value?) -> Value?) throws {
        graph.begin()
        try graph.write(try graph.locate(path), through: path) { old throws(Failure) in change(old) }
        _ = graph.commit()
        for attribute in graph.takeStructureChange().addedAttributes where graph.isAlive(attribute) {
            graph.beginWatch(of: attribute)
            _ = graph.content(of: attribute)
        }
        for attribute in graph.takeInvalidated() { _ = graph.content(of: attribute) }
    }

    func edit(_ change: (inout ValueList) -> Void) throws {
        try transact(at: path) { old in
            var list = old?.list ?? []
            change(&list)
            return .list(list)
        }
    }

    let elements = ValueList((0..<count).map(element))
    let start = now()
    try transact(at: path) { _ in .list(elements) }
    let filled = now() - start
    print(
        "{\"case\": \"forEach \(count), fill\", \"ms\": \((filled / 1e4).rounded() / 100), \"nsPerElement\": \(Int(filled / Double(count)))}"
    )

    func measure(_ name: String, _ change: () throws -> Void, undo: () throws -> Void) throws {
        guard isWanted("forEach \(count), \(name)") else { return }
        // What the first change after the fill finds out once.
        try change()
        try undo()
        var best = Double.infinity
        let before = graph.counters
        let rounds = 20
        for _ in 0..<rounds {
            let start = now()
            try change()
            best = min(best, now() - start)
            try undo()
        }
        let after = graph.counters
        let each = UInt64(rounds * 2)
        print(
            "{\"case\": \"forEach \(count), \(name)\", \"us\": \((best / 10).rounded() / 100), \"nsPerElement\": \((best / Double(count) * 10).rounded() / 10), \"evaluations\": \((after.evaluations - before.evaluations) / each), \"writes\": \((after.writes - before.writes) / each)}"
        )
    }

    let middle = count / 2
    let (new, old) = (element(count), element(middle))
    try measure("append", { try edit { $0.append(new) } }, undo: { try edit { $0.remove(at: count) } })
    try measure("insert", { try edit { $0.insert(new, at: middle) } }, undo: { try edit { $0.remove(at: middle) } })
    try measure("remove", { try edit { $0.remove(at: middle) } }, undo: { try edit { $0.insert(old, at: middle) } })
    func move(_ from: Int, _ to: Int) throws { try edit { $0.insert($0.remove(at: from), at: to) } }
    try measure("move", { try move(count - 2, 1) }, undo: { try move(1, count - 2) })
    func mark(_ path: AttributePath, _ number: Int64) throws { try transact(at: path) { _ in .int(number) } }
    for (name, step) in [("write [index]", "[\(middle)]"), ("write [id]", "[id=\"element\(middle)\"]")] {
        let place = try AttributePath("/app.items\(step).n")
        try measure(name, { try mark(place, -1) }, undo: { try mark(place, -2) })
    }
}
