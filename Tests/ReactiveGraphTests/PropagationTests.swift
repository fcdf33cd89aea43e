import AttributeGraph
import ReactiveGraph
import Testing

@Suite struct PropagationTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("the join of a diamond runs once per write and sees both arms new")
    func diamond() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] + 1 }
        let c = graph.rule { try $0[a] * 10 }
        let d = graph.rule(probe) { try $0[b] + $0[c] }
        #expect(try graph.read(d) == 12)
        try graph.set(a, 2)
        #expect(try graph.read(d) == 23)
        #expect(probe.runs == 2)
    }

    @Test("a tail behind a diamond runs once")
    func tail() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        let c = graph.rule { try $0[a] }
        let d = graph.rule { try $0[b] + $0[c] }
        let e = graph.rule(probe) { try $0[d] }
        try graph.watch(e, Probe())
        try graph.set(a, 2)
        #expect(probe.runs == 2)
        #expect(try graph.read(e) == 4)
    }

    @Test("two tails behind arms of different length each run once")
    func jagged() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        let c1 = graph.rule { try $0[a] }
        let c2 = graph.rule { try $0[c1] }
        let d = graph.rule { try $0[b] + $0[c2] }
        let left = Probe()
        let right = Probe()
        let e = graph.rule(left) { try $0[d] }
        let f = graph.rule(right) { try $0[d] }
        try graph.watch(e, Probe())
        try graph.watch(f, Probe())
        try graph.set(a, 2)
        #expect(left.runs == 2 && right.runs == 2)
        #expect(try graph.read(e) == 4)
    }

    @Test("a join of a long and a short path runs once")
    func asymmetric() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] + 1 }
        let c = graph.rule { try $0[b] + 1 }
        let d = graph.rule { try $0[c] + 1 }
        let join = graph.rule(probe) { try $0[a] + $0[d] }
        try graph.watch(join, Probe())
        try graph.set(a, 5)
        #expect(probe.runs == 2)
        #expect(try graph.read(join) == 13)
    }

    @Test("a reader of an input and of a rule over it never sees them from two moments")
    func glitchFree() throws {
        let a = graph.input(2)
        let b = graph.rule { try $0[a] - 1 }
        let c = graph.rule { try $0[a] + $0[b] }
        let d = graph.rule(probe) { try $0[c] }
        let watcher = Probe()
        try graph.watch(d, watcher)
        try graph.set(a, 4)
        #expect(watcher.seen == [3, 7])
        #expect(probe.runs == 2)
    }

    @Test("a join still updates from one arm when the other is constant")
    func oneArmConstant() throws {
        let a = graph.input(1)
        let constant = graph.rule {
            _ = try $0[a]; return 0
        }
        let b = graph.rule { try $0[a] }
        let join = graph.rule { try $0[constant] + $0[b] }
        let watcher = Probe()
        try graph.watch(join, watcher)
        try graph.set(a, 2)
        #expect(watcher.seen == [1, 2])
    }

    @Test("a join of constant arms does not run")
    func bothArmsConstant() throws {
        let a = graph.input(1)
        let b = graph.rule {
            _ = try $0[a]; return 0
        }
        let c = graph.rule {
            _ = try $0[a]; return 1
        }
        let join = graph.rule(probe) { try $0[b] + $0[c] }
        try graph.watch(join, Probe())
        try graph.set(a, 2)
        #expect(probe.runs == 1)
    }

    @Test("a join updates from its third arm when two are constant")
    func thirdArm() throws {
        let a = graph.input(1)
        let b = graph.rule {
            _ = try $0[a]; return 0
        }
        let c = graph.rule {
            _ = try $0[a]; return 0
        }
        let d = graph.rule { try $0[a] }
        let join = graph.rule { try $0[b] + $0[c] + $0[d] }
        let watcher = Probe()
        try graph.watch(join, watcher)
        try graph.set(a, 7)
        #expect(watcher.seen == [1, 7])
    }

    @Test("arms run before the join", arguments: [false, true])
    func order(isRead: Bool) throws {
        let a = graph.input(1)
        let probe = probe
        let b = graph.rule {
            probe.events.append("b"); return try $0[a]
        }
        let c = graph.rule {
            probe.events.append("c"); return try $0[a]
        }
        let d = graph.rule {
            let sum = try $0[b] + $0[c]
            probe.events.append("d")
            return sum
        }
        try graph.watch(d, Probe())
        probe.reset()
        try graph.batch {
            try graph.set(a, 2)
            if isRead { #expect(try graph.read(d) == 4) }
        }
        #expect(probe.events == ["b", "c", "d"])
    }

    @Test("levels that each read all of the level before run once per vertex")
    func linearConvergence() throws {
        let a = graph.input(1)
        var level = [a]
        for width in 1...5 {
            let previous = level
            level = (0...width).map { _ in
                graph.rule(probe) { context in try previous.reduce(0) { $0 + (try context[$1]) } }
            }
        }
        let last = level
        let end = graph.rule(probe) { context in try last.reduce(0) { $0 + (try context[$1]) } }
        try graph.watch(end, Probe())
        let first = probe.runs
        try graph.set(a, 2)
        #expect(probe.runs == first * 2)
    }

    @Test("levels that each read the two before run once per vertex, not once per path")
    func exponentialConvergence() throws {
        let a = graph.input(1)
        var (left, right) = (a, a)
        for _ in 0..<20 {
            let (l, r) = (left, right)
            left = graph.rule(probe) { try ($0[l] + $0[r]) % 1000 }
            right = graph.rule(probe) { try ($0[l] + $0[r] + 1) % 1000 }
        }
        try graph.watch(left, Probe())
        let first = probe.runs
        #expect(first <= 40)
        try graph.set(a, 2)
        #expect(probe.runs <= first * 2)
    }

    @Test("a change passes through a long chain")
    func chain() throws {
        let a = graph.input(0)
        var last = a
        for _ in 0..<100 {
            let previous = last
            last = graph.rule { try $0[previous] + 1 }
        }
        try graph.watch(last, probe)
        try graph.set(a, 1)
        #expect(probe.seen == [100, 101])
    }

    @Test("when one of two observers of a rule goes, the other is still notified")
    func siblingGoes() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        let gone = Probe()
        let first = try graph.watch(b, gone)
        try graph.watch(b, probe)
        try graph.dispose(first)
        try graph.set(a, 2)
        #expect(gone.seen == [1])
        #expect(probe.seen == [1, 2])
    }

    @Test("when the only observer goes, later writes run none of the rules above it")
    func deactivation() throws {
        let a = graph.input(1)
        let b = graph.rule(probe) { try $0[a] }
        let c = graph.rule(probe) { try $0[b] }
        let observer = try graph.watch(c, Probe())
        try graph.dispose(observer)
        probe.reset()
        try graph.set(a, 2)
        #expect(probe.runs == 0)
        #expect(try graph.read(c) == 2)
    }

    @Test("a rule that its reader no longer reaches does not run in the same batch")
    func unreachedRule() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let c = graph.rule(probe) { try $0[b] }
        let d = graph.rule { try $0[a] == 0 ? $0[c] : -1 }
        let watcher = Probe()
        try graph.watch(d, watcher)
        probe.reset()
        try graph.batch {
            try graph.set(a, 1)
            try graph.set(b, 1)
        }
        #expect(probe.runs == 0)
        #expect(watcher.seen == [0, -1])
    }

    @Test("three inputs change at once and an observer changes what it reads: each vertex runs once")
    func threeInputs() throws {
        let a = graph.input(0)
        let b = graph.input(1)
        let c = graph.input(2)
        let left = Probe()
        let right = Probe()
        let viaB = graph.rule(left) { try $0[b] * 10 }
        let viaC = graph.rule(right) { try $0[c] * 10 }
        try graph.observe { [probe] in probe.saw(try $0[a] == 0 ? $0[viaB] : $0[viaC]) }
        try graph.batch {
            try graph.set(a, 1)
            try graph.set(b, 5)
            try graph.set(c, 6)
        }
        #expect(probe.seen == [10, 60])
        #expect(left.runs == 1 && right.runs == 1)
    }

    @Test("a rule read directly before it is observed still notifies")
    func readThenObserved() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        #expect(try graph.read(b) == 1)
        try graph.watch(b, probe)
        try graph.set(a, 2)
        #expect(probe.seen == [1, 2])
    }

    @Test("an observer sees a write made before it")
    func writtenBefore() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        _ = try graph.read(b)
        try graph.set(a, 2)
        try graph.watch(b, probe)
        #expect(probe.seen == [2])
    }

    @Test("a rule that computes the same value wakes no observer")
    func sameValue() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] / 10 }
        try graph.watch(b, probe)
        try graph.set(a, 2)
        #expect(probe.runs == 1)
        try graph.set(a, 10)
        #expect(probe.seen == [0, 1])
    }

    @Test("two inputs of one rule written in a batch cost one run")
    func twoInputs() throws {
        let a = graph.input(1)
        let b = graph.input(2)
        let c = graph.rule(probe) { try $0[a] + $0[b] }
        let watcher = Probe()
        try graph.watch(c, watcher)
        try graph.batch {
            try graph.set(a, 10)
            try graph.set(b, 20)
        }
        #expect(probe.runs == 2 && watcher.seen == [3, 30])
    }

    @Test("two inputs that cross over two rules cost one run each")
    func crossFeed() throws {
        let a = graph.input(1)
        let b = graph.input(2)
        let c = graph.rule(probe) { try $0[a] + $0[b] }
        let d = graph.rule(probe) { try $0[a] - $0[b] }
        let e = graph.rule(probe) { try $0[c] * $0[d] }
        try graph.watch(e, Probe())
        probe.reset()
        try graph.batch {
            try graph.set(a, 5)
            try graph.set(b, 4)
        }
        #expect(probe.runs == 3)
        #expect(try graph.read(e) == 9)
    }

    @Test("stacked diamonds run each vertex once")
    func stackedDiamonds() throws {
        var top = graph.input(1)
        let source = top
        for _ in 0..<2 {
            let from = top
            let left = graph.rule(probe) { try $0[from] + 1 }
            let right = graph.rule(probe) { try $0[from] + 2 }
            top = graph.rule(probe) { try $0[left] + $0[right] }
        }
        try graph.watch(top, Probe())
        probe.reset()
        try graph.set(source, 2)
        #expect(probe.runs == 6)
    }

    @Test("six observers behind six rules on one input run once each")
    func sixPairs() throws {
        let a = graph.input(0)
        let probes = (0..<6).map { _ in Probe() }
        for (number, probe) in probes.enumerated() {
            let rule = graph.rule { try $0[a] + number }
            try graph.watch(rule, probe)
        }
        try graph.set(a, 1)
        #expect(probes.map(\.runs) == Array(repeating: 2, count: 6))
    }

    @Test("observers of one input run in the order of their creation")
    func creationOrder() throws {
        let a = graph.input(0)
        let probe = probe
        for name in ["one", "two", "three"] {
            try graph.observe {
                _ = try $0[a]; probe.events.append(name)
            }
        }
        probe.reset()
        try graph.set(a, 1)
        #expect(probe.events == ["one", "two", "three"])
    }
}
