import AttributeValues
import Glibc
import SceneModel
import ViewGraph

// Operators over a window: each of many states is written once a second, and its average over a minute is watched. The
// time is a test clock's; the cost is processor time per second of that clock.

func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

func feedWindows(_ operation: String, of count: Int) throws {
    let nodes = (0..<count).map {
        "  - { id: n\($0), kind: view, state: { x: 0.0 }, computed: { y: \"\(operation)(x, duration('1m'))\" } }\n"
    }
    let scene = try SceneReader.read(text: "nodes:\n" + nodes.joined())
    let graph = ViewGraph(wallTime: .epoch)
    graph.perform(try graph.planned(scene, at: .root, .create).plan)
    for attribute in graph.takeStructureChange().addedAttributes where graph.isAlive(attribute) {
        graph.beginWatch(of: attribute)
        _ = graph.content(of: attribute)
    }
    let places = try (0..<count).map { number in
        let path = try AttributePath("/n\(number).x")
        return (path: path, place: try graph.locate(path))
    }
    var tenths: Int64 = 0

    /// A tenth of the states is written in each tenth of a second, as feeders do that know nothing of each other.
    func second() throws {
        for tenth in 0..<10 {
            tenths += 1
            let elapsed = TimeSpan(nanoseconds: tenths * 100_000_000)
            graph.advance(to: Timestamp.epoch.advanced(by: elapsed) ?? .epoch, elapsed: elapsed)
            graph.begin()
            for number in stride(from: tenth, to: count, by: 10) {
                let value = Double((tenths &* 31 &+ Int64(number) &* 17) % 1000)
                try graph.write(places[number].place, through: places[number].path) { _ throws(Failure) in
                    .double(value)
                }
            }
            _ = graph.commit()
            for attribute in graph.takeInvalidated() { _ = graph.content(of: attribute) }
        }
    }

    // The window is full.
    for _ in 0..<70 { try second() }
    let before = graph.counters.evaluations
    let start = processorTime()
    let seconds = 30
    for _ in 0..<seconds { try second() }
    let spent = (processorTime() - start) / Double(seconds)
    print(
        "{\"case\": \"windows \(count), \(operation)\", \"percentOfCore\": \((spent / 1e5).rounded() / 100), \"evaluationsPerSecond\": \((graph.counters.evaluations - before) / UInt64(seconds))}"
    )
}
