import AttributeGraph
import TestSupport

/// Layers of four rules and four observers; the sum of ten runs, each on a graph of its own.
func cellxRun(layers: Int) throws -> Measurement {
    let graph = ClosureGraph<Double>()
    let start = (1...4).map { graph.input(Double($0)) }
    var layer = start
    for _ in 0..<layers {
        let m = layer
        let (m1, m2, m3, m4) = (m[0], m[1], m[2], m[3])
        layer = [
            graph.rule { try $0.read(m2) },
            graph.rule { try $0.read(m1) - $0.read(m3) },
            graph.rule { try $0.read(m2) + $0.read(m4) },
            graph.rule { try $0.read(m3) },
        ]
        for rule in layer { graph.observe { try $0.read(rule) } }
    }
    let end = layer
    return try timed({ graph.evaluations }) {
        try check(try end.map { try graph.read($0) }, [-3, -6, -2, 2], "before")
        try graph.batch { for i in 0..<4 { try graph.set(start[i], Double(4 - i)) } }
        try check(try end.map { try graph.read($0) }, [-2, -4, 2, 3], "after")
    }
}

@MainActor let cellxCases: [Case] = [1000, 2500].map { layers in
    Case(
        name: "cellx\(layers)",
        warmUp: { _ = try cellxRun(layers: 1000) },
        measure: {
            var total = Measurement(milliseconds: 0, evaluations: 0)
            for _ in 0..<10 {
                let run = try cellxRun(layers: layers)
                total.milliseconds += run.milliseconds
                total.evaluations += run.evaluations
            }
            return total
        })
}
