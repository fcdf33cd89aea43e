import AttributeGraph
import TestSupport

/// The eight small graphs of the kairo suite: the fastest of ten samples of 500 iterations on one graph.
struct KairoCase<Value: Equatable> {
    let name: String
    /// Builds the graph and returns one iteration.
    let build: (ClosureGraph<Value>) throws -> (() throws -> Void)

    var row: Case {
        Case(
            name: name,
            warmUp: {
                let graph = ClosureGraph<Value>()
                let iterate = try build(graph)
                for _ in 0..<3 { try iterate() }
            },
            measure: {
                let graph = ClosureGraph<Value>()
                let iterate = try build(graph)
                for _ in 0..<3 { try iterate() }
                return try fastest(of: 10) {
                    try timed({ graph.evaluations }) { for _ in 0..<500 { try iterate() } }
                }
            })
    }
}

@inline(never)
func opaque(_ number: inout Int) { number &+= 1 }

/// A hundred increments that the compiler must keep.
@inline(__always)
func busy(_ number: UnsafeMutablePointer<Int>) { for _ in 0..<100 { opaque(&number.pointee) } }

/// An observer that counts its runs.
func count(_ attribute: AttributeID, _ runs: UnsafeMutablePointer<Int>, in graph: ClosureGraph<Double>) throws {
    graph.observe {
        runs.pointee += 1
        return try $0.read(attribute)
    }
}

func sum(of terms: [AttributeID], in graph: ClosureGraph<Double>) -> AttributeID {
    graph.rule { core in
        var total = 0.0
        for term in 0..<terms.count { total += try core.read(terms[term]) }
        return total
    }
}

@MainActor let kairoCases: [Case] = [
    KairoCase<Double>(name: "avoidable") { graph in
        let work = sharedNumber()
        let head = graph.input(0)
        let c1 = graph.rule { try $0.read(head) }
        let c2 = graph.rule {
            _ = try $0.read(c1)
            return 0
        }
        let c3 = graph.rule {
            busy(work)
            return try $0.read(c2) + 1
        }
        let c4 = graph.rule { try $0.read(c3) + 2 }
        let c5 = graph.rule { try $0.read(c4) + 3 }
        graph.observe {
            busy(work)
            return try $0.read(c5)
        }
        return {
            try graph.batch { try graph.set(head, 1) }
            try check(try graph.read(c5), 6)
            for i in 0..<1000 {
                try graph.batch { try graph.set(head, Double(i)) }
                try check(try graph.read(c5), 6)
            }
        }
    }.row,
    KairoCase<Double>(name: "broad") { graph in
        let head = graph.input(0)
        let runs = sharedNumber()
        var last = head
        for i in 0..<50 {
            let a = graph.rule { try $0.read(head) + Double(i) }
            let b = graph.rule { try $0.read(a) + 1 }
            try count(b, runs, in: graph)
            last = b
        }
        let end = last
        return {
            try graph.batch { try graph.set(head, 1) }
            runs.pointee = 0
            for i in 0..<50 {
                try graph.batch { try graph.set(head, Double(i)) }
                try check(try graph.read(end), Double(i + 50))
            }
            try check(runs.pointee, 50 * 50)
        }
    }.row,
    KairoCase<Double>(name: "deep (kairo)") { graph in
        let head = graph.input(0)
        let runs = sharedNumber()
        var current = head
        for _ in 0..<50 {
            let previous = current
            current = graph.rule { try $0.read(previous) + 1 }
        }
        let last = current
        try count(last, runs, in: graph)
        return {
            try graph.batch { try graph.set(head, 1) }
            runs.pointee = 0
            for i in 0..<50 {
                try graph.batch { try graph.set(head, Double(i)) }
                try check(try graph.read(last), Double(50 + i))
            }
            try check(runs.pointee, 50)
        }
    }.row,
    KairoCase<Double>(name: "diamond") { graph in
        let head = graph.input(0)
        let runs = sharedNumber()
        let arms = (0..<5).map { _ in graph.rule { try $0.read(head) + 1 } }
        let sum = sum(of: arms, in: graph)
        try count(sum, runs, in: graph)
        return {
            try graph.batch { try graph.set(head, 1) }
            try check(try graph.read(sum), 10)
            runs.pointee = 0
            for i in 0..<500 {
                try graph.batch { try graph.set(head, Double(i)) }
                try check(try graph.read(sum), Double((i + 1) * 5))
            }
            try check(runs.pointee, 500)
        }
    }.row,
    KairoCase<TableOrNumber>(name: "mux") { graph in
        let heads = (0..<100).map { _ in graph.input(.number(0)) }
        let mux = graph.rule { core in
            var table: [Double] = []
            table.reserveCapacity(100)
            for head in 0..<heads.count { table.append(try core.read(heads[head]).number) }
            return .table(table)
        }
        let split = (0..<100).map { i in graph.rule { .number(try $0.withRead(mux) { $0.at(i) }) } }
        let ends = split.map { s in
            graph.rule { .number(try $0.read(s).number + 1) }
        }
        for end in ends { graph.observe { try $0.read(end) } }
        return {
            for factor in 1...2 {
                for i in 0..<10 {
                    try graph.batch { try graph.set(heads[i], .number(Double(factor * i))) }
                    try check(try graph.read(ends[i]).number, Double(factor * i + 1))
                }
            }
        }
    }.row,
    KairoCase<Double>(name: "repeated") { graph in
        let head = graph.input(0)
        let runs = sharedNumber()
        let sum = graph.rule { core in
            var total = 0.0
            for _ in 0..<30 { total += try core.read(head) }
            return total
        }
        try count(sum, runs, in: graph)
        return {
            try graph.batch { try graph.set(head, 1) }
            try check(try graph.read(sum), 30)
            runs.pointee = 0
            for i in 0..<100 {
                try graph.batch { try graph.set(head, Double(i)) }
                try check(try graph.read(sum), Double(30 * i))
            }
            try check(runs.pointee, 100)
        }
    }.row,
    KairoCase<Double>(name: "triangle") { graph in
        let head = graph.input(0)
        let runs = sharedNumber()
        var current = head
        var list: [AttributeID] = []
        for _ in 0..<10 {
            let previous = current
            list.append(previous)
            current = graph.rule { try $0.read(previous) + 1 }
        }
        let sum = sum(of: list, in: graph)
        try count(sum, runs, in: graph)
        return {
            try graph.batch { try graph.set(head, 1) }
            try check(try graph.read(sum), 55)
            runs.pointee = 0
            for i in 0..<100 {
                try graph.batch { try graph.set(head, Double(i)) }
                try check(try graph.read(sum), Double(45 + 10 * i))
            }
            try check(runs.pointee, 100)
        }
    }.row,
    KairoCase<Double>(name: "unstable") { graph in
        let head = graph.input(0)
        let runs = sharedNumber()
        let double = graph.rule { try $0.read(head) * 2 }
        let inverse = graph.rule { -(try $0.read(head)) }
        let current = graph.rule { core in
            var total = 0.0
            for _ in 0..<20 {
                total += try isOdd(core.read(head)) ? core.read(double) : core.read(inverse)
            }
            return total
        }
        try count(current, runs, in: graph)
        return {
            try graph.batch { try graph.set(head, 1) }
            try check(try graph.read(current), 40)
            runs.pointee = 0
            for i in 0..<100 { try graph.batch { try graph.set(head, Double(i)) } }
            try check(runs.pointee, 100)
        }
    }.row,
]

/// Of a whole number below 2⁵²: beside that power its last binary digit is the last bit.
@inline(__always)
func isOdd(_ number: Double) -> Bool { (number + 0x1p52).bitPattern & 1 != 0 }

/// The values of `mux`: a table is a fresh object each time and equal to no other.
enum TableOrNumber: Equatable {
    case number(Double)
    case table([Double])

    @inline(__always)
    var number: Double {
        if case .number(let number) = self { return number }
        return .nan
    }

    @inline(__always)
    borrowing func at(_ index: Int) -> Double {
        switch self {
        case .table(let table): table[index]
        case .number: .nan
        }
    }

    @inline(__always)
    static func == (a: TableOrNumber, b: TableOrNumber) -> Bool {
        if case .number(let x) = a, case .number(let y) = b { return x == y }
        return false
    }
}
