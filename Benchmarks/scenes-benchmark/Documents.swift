import AttributeValues
import SceneModel
import ViewGraph

// Documents from their text to a living tree, and applied again with one difference. The time per node must not grow.

private func document(_ count: Int, _ constant: Int) -> String {
    var text = """
        keys: { environment: { limit: 0.9 } }
        components:
          Core:
            binding: { load: { type: double } }
            let: [number]
            inherit: [limit]
            computed: { status: 'load > limit ? "critical" : "ok"', label: 'string(number) + ": " + status' }
        nodes:

        """
    for host in 0..<count / 100 {
        text += """
              - id: host\(host)
                state: { load: 0.5, name: Host \(host) }
                computed: { title: 'name + " " + string(\(host == 0 ? constant : host))' }
                children:

            """
        for core in 0..<99 {
            text += "      - { id: core\(core), component: Core, binding: { load: $load }, let: { number: \(core) } }\n"
        }
    }
    return text
}

func applyDocuments(of count: Int) throws {
    let graph = ViewGraph(wallTime: .epoch)
    let everything = try PathPattern("/**")
    func timed<T>(_ name: String, _ body: () throws -> T) rethrows -> T {
        let start = now()
        let result = try body()
        let time = now() - start
        print(
            "{\"case\": \"apply \(count), \(name)\", \"ms\": \((time / 1e4).rounded() / 100), \"nsPerNode\": \(Int(time / Double(count)))}"
        )
        return result
    }
    func apply(_ text: String, _ name: String, _ mode: ApplyMode) throws {
        let scene = try timed("\(name): read and check") {
            try SceneReader.read(text: text, context: graph.sceneContext(at: .root, mode, isKept: false))
        }
        let plan = try timed("\(name): plan") { try graph.planned(scene, at: .root, mode).plan }
        timed("\(name): perform") { _ = graph.perform(plan) }
        _ = graph.takeStructureChange()
    }
    try apply(document(count, 0), "create", .create)
    precondition(graph.liveNodes == count + 1)
    try timed("read every value") {
        try PatternSearch(everything, in: graph).forEachAttribute { attribute, _ in _ = graph.content(of: attribute) }
    }
    let before = graph.counters.evaluations
    try apply(document(count, 1), "merge", .merge)
    try timed("read every value after the merge") {
        try PatternSearch(everything, in: graph).forEachAttribute { attribute, _ in _ = graph.content(of: attribute) }
    }
    print("{\"case\": \"apply \(count), merge\", \"evaluations\": \(graph.counters.evaluations - before)}")
    try apply(document(count, 2), "replace", .replace)
    try apply("nodes: []", "replace by nothing", .replace)
    // Many nodes are freed in slices.
    _ = graph.takeStoreChanges(at: 1)
    timed("free") {
        var steps = Int.max
        graph.freeUnlinked(&steps)
    }
    precondition(graph.liveNodes == 1)
}
