import AttributeGraph
import AttributeValues
import SceneModel
import TestSupport
import ViewGraph

// One insertion, move, removal or write in a list whose elements are all shown by watched instances. The cost beyond copying and
// comparing the list must not grow with it: rules run and vertices touched are counted.

private func element(_ number: Int) -> Value { ["id": .string("element\(number)"), "n": .int(Int64(number))] }

func changeLists(of count: Int) throws {
    let scene = try SceneReader.read(text: listScene)
    let graph = ViewGraph(wallTime: .epoch)
    graph.perform(try graph.planned(scene, at: .root, .create).plan)
    let path = try AttributePath("/app.items")
    let items = try graph.locate(path)

    /// A transaction and what a runtime does after it: the tree settled, whatever is watched and may have changed read.
    func transact(_ change: ([Value]) -> [Value]) throws {
        graph.begin()
        try graph.write(items, through: path) { old throws(Failure) in .list(change(old?.list ?? [])) }
        _ = graph.commit()
        for attribute in graph.takeStructureChange().addedAttributes where graph.isAlive(attribute) {
            graph.watch(attribute)
            _ = graph.content(of: attribute)
        }
        for attribute in graph.takeInvalidated() { _ = graph.content(of: attribute) }
    }

    let start = now()
    try transact { _ in (0..<count).map(element) }
    let filled = now() - start
    print(
        "{\"case\": \"forEach \(count), fill\", \"ms\": \((filled / 1e4).rounded() / 100), \"nsPerElement\": \(Int(filled / Double(count)))}"
    )

    func measure(_ name: String, _ change: ([Value]) -> [Value], undo: ([Value]) -> [Value]) throws {
        // What the first change after the fill finds out once.
        try transact(change)
        try transact(undo)
        var best = Double.infinity
        let before = graph.counters
        let rounds = 20
        for _ in 0..<rounds {
            let start = now()
            try transact(change)
            best = min(best, now() - start)
            try transact(undo)
        }
        let after = graph.counters
        let each = UInt64(rounds * 2)
        print(
            "{\"case\": \"forEach \(count), \(name)\", \"us\": \((best / 10).rounded() / 100), \"nsPerElement\": \((best / Double(count) * 10).rounded() / 10), \"evaluations\": \((after.evaluations - before.evaluations) / each), \"writes\": \((after.writes - before.writes) / each)}"
        )
    }

    let middle = count / 2
    let new = element(count)
    try measure(
        "insert", { $0[..<middle] + [new] + $0[middle...] }, undo: { Array($0[..<middle] + $0[(middle + 1)...]) })
    let old = element(middle)
    try measure(
        "remove", { Array($0[..<middle] + $0[(middle + 1)...]) }, undo: { $0[..<middle] + [old] + $0[middle...] })
    try measure(
        "move",
        { list in
            var list = list
            list.insert(list.remove(at: count - 2), at: 1)
            return list
        },
        undo: { list in
            var list = list
            list.insert(list.remove(at: 1), at: count - 2)
            return list
        })
    func marked(_ list: [Value], _ number: Int64) -> [Value] {
        var list = list
        list[middle] = ["id": .string("element\(middle)"), "n": .int(number)]
        return list
    }
    try measure("write", { marked($0, -1) }, undo: { marked($0, -2) })
}
