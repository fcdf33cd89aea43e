import AttributeValues
import Glibc
import SceneModel

// What reading and checking a scene document costs, from text and from a value, in shapes that differ in what they ask
// of the reader. One JSON line per case; the time per node must not grow with the number of nodes.
//
// usage: documents-benchmark [nodes…]

func peakMemory() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_maxrss) / 1024
}

/// Nodes that are all alike: what is checked for one holds for all.
func alike(_ count: Int) -> String {
    "nodes:\n"
        + (0..<count).map { "  - { id: n\($0), state: { a: \($0), b: true }, computed: { c: \"a + 1\" } }\n" }.joined()
}

/// Every node with rules of its own.
func different(_ count: Int) -> String {
    "nodes:\n"
        + (0..<count).map { "  - { id: n\($0), state: { a: \($0) }, computed: { c: \"a + \($0)\" } }\n" }.joined()
}

/// Uses of a component, in groups below a node that holds what they are bound to.
func components(_ count: Int) -> String {
    var text = """
        components:
          Gauge:
            let: [title]
            binding: { value: { type: double } }
            computed: { status: 'value > 0.9 ? "critical" : "ok"' }
        nodes:

        """
    for group in 0..<(count + 99) / 100 {
        text += "  - id: g\(group)\n    state: { load: 0.5 }\n    children:\n"
        for place in 0..<99 {
            text +=
                "      - { id: n\(place), component: Gauge, let: { title: Core \(place) }, binding: { value: $load } }\n"
        }
    }
    return text
}

func describe(_ name: String, _ count: Int, _ seconds: Double) {
    let perNode = (seconds / Double(count) * 1e9).rounded()
    print(
        "{\"case\": \"\(name)\", \"nodes\": \(count), \"seconds\": \((seconds * 1000).rounded() / 1000), \"nsPerNode\": \(Int(perNode)), \"peakMB\": \(Int(peakMemory()))}"
    )
}

let counts = CommandLine.arguments.dropFirst().compactMap { Int($0) }
for count in counts.isEmpty ? [1_000, 10_000, 100_000] : counts {
    for (name, make) in [("alike", alike), ("different", different), ("components", components)] {
        let text = make(count)
        var start = MonotonicTime.now
        let value = try SceneReader.value(text: text)
        describe("\(name), text to value", count, MonotonicTime.now - start)
        start = MonotonicTime.now
        let scene = try SceneReader.read(text: text)
        describe("\(name), text to scene", count, MonotonicTime.now - start)
        start = MonotonicTime.now
        let other = try SceneReader.read(value: value)
        describe("\(name), value to scene", count, MonotonicTime.now - start)
        precondition(scene.nodes.count == other.nodes.count)
    }
}
