import AttributeValues
import TestSupport

/// A random scene as a text for the daemon, and as a naive model of it: states by path, bindings as paths, rules as
/// trees that are evaluated by recursion. The model shares no code with the engine and the view graph.
struct Model {
    indirect enum Rule {
        case number(Int64)
        case read(name: String, path: String)
        case combine(String, Rule, Rule)
        case choose(Rule, Rule, Rule, Rule)

        var text: String {
            switch self {
            case .number(let number): "\(number)"
            case .read(let name, _): name
            case .combine(let sign, let a, let b): "(\(a.text) \(sign) \(b.text))"
            case .choose(let a, let b, let yes, let no): "(\(a.text) < \(b.text) ? \(yes.text) : \(no.text))"
            }
        }
    }

    enum Change {
        case set(String, Value)
        case add(String, Int64)
        case toggle(String)
        case append(String, Value)
        case merge(String, Value)
        case test(String, Value)
        /// A call of an action: a request of its own.
        case call(String, Int64?)

        var path: String {
            switch self {
            case .set(let path, _), .add(let path, _), .toggle(let path), .append(let path, _), .merge(let path, _),
                .test(let path, _), .call(let path, _):
                path
            }
        }

        var text: String {
            func text(_ name: String, _ path: String, _ value: Value?) -> String {
                "{\"op\":\"\(name)\",\"path\":\"\(path)\"\(value.map { ",\"value\":\($0.jsonText)" } ?? "")}"
            }
            return switch self {
            case .set(let path, let value): text("set", path, value)
            case .add(let path, let number): text("add", path, .int(number))
            case .toggle(let path): text("toggle", path, nil)
            case .append(let path, let value): text("append", path, value)
            case .merge(let path, let value): text("merge", path, value)
            case .test(let path, let value): text("test", path, value)
            case .call(let path, let by): "{\"path\":\"\(path)\"\(by.map { ",\"arguments\":{\"by\":\($0)}" } ?? "")}"
            }
        }
    }

    /// The nodes that one client makes, removes and moves.
    struct Tree: Equatable {
        /// Whether `/w/m` is there.
        var hasNode = true
        /// The box that the ball is in.
        var box = 1

        /// What the layer says; 0: there is none.
        var layer = 0
        var plan = Plan.none
        /// A client has removed `/lamp`. It stays away until it is restored, or the layer says something else of it.
        var isLampRemoved = false

        /// What the layer does with `/plan`, as it was decided when it said something of it first.
        enum Plan { case none, made, completed }

        static let boxes = 2
        var ball: String { "/box\(box)/ball" }
        /// The states below these nodes.
        static let paths =
            ["/w/m.z", "/mark.n"] + (1...boxes).map { "/box\($0)/ball.v" } + Model.optional.map(\.path)

        /// The documents of the layer.
        static let documents = [
            #"{"agd":1,"nodes":[{"id":"mark","let":{"n":1}},{"id":"lamp","kind":"container","state":{"on":0}},{"id":"plan","kind":"container","state":{"l":2}}]}"#,
            #"{"agd":1,"nodes":[{"id":"mark","let":{"n":2}},{"id":"lamp","kind":"container","state":{"on":0,"dim":1}}]}"#,
        ]
    }

    /// What the author has made of the scene, between two starts.
    struct Edition: Equatable {
        var hasPlan = true
        /// `/desk` has another state.
        var hasMore = false
    }

    /// The states that come and go with the layer and the edition, and their initial values.
    static let optional: [(path: String, initial: Int64)] = [
        ("/lamp.on", 0), ("/lamp.dim", 1), ("/plan.l", 2), ("/plan.e", 5), ("/desk.w", 6),
    ]

    /// True if there is such a state.
    private static func has(_ path: String, _ tree: Tree, _ edition: Edition) -> Bool {
        switch path {
        case "/lamp.on": tree.layer > 0 && !tree.isLampRemoved
        case "/lamp.dim": tree.layer == 2 && !tree.isLampRemoved
        case "/plan.l": tree.plan == .made || tree.plan == .completed && edition.hasPlan
        // The upper layer counts.
        case "/plan.e": edition.hasPlan && tree.plan != .made
        default: edition.hasMore
        }
    }

    /// The number of clients with a state of their own, of accounts, and of views.
    static let owners = 6
    static let accounts = 5
    static let views = 4
    static let wills = 4
    /// Names that only the daemon's own user may read.
    static let hidden = "secret"

    private var text = "agd: 1\nnodes:\n"
    private(set) var states: [String: Value] = [:]
    /// The states that were written since somebody looked; nil: more than states has changed.
    private(set) var written: Set<String>? = []
    /// Something has become another since this was set to false.
    var hasChanged = false
    private var initial: [String: Value] = [:]
    private var transient: Set<String> = []
    private var bindings: [String: String] = [:]
    /// With the beginning of the names of their nodes.
    private var rules: [(path: String, rule: Rule, node: String)] = []
    private(set) var tree = Tree()
    private var edition = Edition()
    /// Values of states that the scene lacks now.
    private var waiting: [String: Value] = [:]

    static let ruleNames: Set<String> = ["sum", "size", "p", "twice", "r0", "r1", "r2", "low", "after", "next"]
    /// What the time that has passed decides, as well: told apart, at rest.
    static let past = "/past."
    /// Seconds after which the past has come to rest.
    static let pastTime = 5

    init(_ generator: inout SeededGenerator) {
        state("/w.a", 0)
        state("/w.b", 0)
        state("/w.on", false)
        state("/w.o", ["x": 0, "y": 0])
        state("/w.text", "")
        state("/w.items", ["i1", "i2"])
        rule("/w.sum", .combine("+", .read(name: "a", path: "/w.a"), .read(name: "b", path: "/w.b")))
        text += """
              - id: w
                kind: container
                state: { a: 0, b: 0, on: false, o: { x: 0, y: 0 }, text: "", items: [i1, i2] }
                computed: { sum: (a + b), size: text.size() }
                children:
                  - { id: r, forEach: { in: $items, id: self, node: { kind: container, state: { q: 0 }, computed: { p: q + 1 } } } }
                  - { id: m, kind: container, state: { z: 0 } }

            """
        initial["/w/m.z"] = 0
        for number in 0..<Model.views {
            let path = "/w/v\(number)"
            state(path + ".n", .int(Int64(number)))
            bindings[path + ".a"] = "/w.a"
            bindings[path + ".b"] = "/w.b"
            var names = ["n": path + ".n", "a": path + ".a", "b": path + ".b"]
            var computed: [String] = []
            for place in 0..<3 {
                let rule = Model.rule(names, depth: 3, &generator)
                self.rule("\(path).r\(place)", rule)
                computed.append("r\(place): '\(rule.text)'")
                names["r\(place)"] = "\(path).r\(place)"
            }
            // One whose result often stays the same, and one that reads it alone.
            let low: Rule = .combine("%", .read(name: "n", path: path + ".n"), .number(2))
            self.rule("\(path).low", low)
            let after: Rule = .combine("+", .read(name: "low", path: path + ".low"), .number(1))
            self.rule("\(path).after", after)
            computed += ["low: '\(low.text)'", "after: '\(after.text)'"]
            text += """
                      - id: v\(number)
                        kind: container
                        state: { n: \(number) }
                        binding: { a: $a, b: $b }
                        computed: { \(computed.joined(separator: ", ")) }

                """
        }
        text += """
              - id: act
                kind: container
                state: { n: 0, p: 1 }
                actions:
                  shift: { parameters: { by: { default: 1 } }, steps: [{ add: { /w.a: =by } }, { add: { /w.b: =-by } }, { set: { $n: =n + by } }] }
                  swap: [{ set: { $n: =p } }, { set: { $p: =n } }]
                  guarded: [{ test: { /w.on: true } }, { add: { $n: 1 } }]
              - id: past
                state: { fresh: { initial: 0, expires: 4s } }
                binding: { a: $/w.a, on: $/w.on }
                computed:
                  calm: debounced(a, duration('300ms'))
                  stood: held(on, duration('2s'))
                  peak: greatest(a, duration('3s'))
                  before: previous(a)
              - { id: far, kind: container, state: { x: 0, y: 0 } }
              - { id: box1, kind: container, children: [{ id: ball, state: { v: 0 }, computed: { next: v + 1 } }] }
              - { id: box2, kind: container }

            """
        for (path, value) in [("/act.n", 0), ("/act.p", 1), ("/far.x", 0), ("/far.y", 0), ("/box1/ball.v", 0)] {
            state(path, .int(Int64(value)))
        }
        text += "  - id: t\n    state: { v: { initial: 0, transient: true } }\n    computed: { twice: v * 2 }\n"
        state("/t.v", 0)
        transient.insert("/t.v")
        rule("/t.twice", .combine("*", .read(name: "v", path: "/t.v"), .number(2)))
        func many(_ node: String, _ name: String, _ count: Int, _ initial: Int64) {
            let names = (0..<count).map { "\(name)\($0): \(initial)" }.joined(separator: ", ")
            text += "  - id: \(node)\n    state: { \(names) }\n"
            for number in 0..<count { state("/\(node).\(name)\(number)", .int(initial)) }
        }
        many("c", "v", Model.owners, 0)
        many("bank", "x", Model.accounts, 100)
        many("wills", "k", Model.wills, 0)
        many(Model.hidden, Model.hidden, 3, 0)
        text += "    children: [{ id: \(Model.hidden)child, state: { v: 0 } }]\n"
        state("/\(Model.hidden)/\(Model.hidden)child.v", 0)
        state("/desk.d", 3)
        states = initial
        for (path, initial) in Model.optional where Model.has(path, tree, edition) { states[path] = .int(initial) }
    }

    /// The scene.
    func text(_ edition: Edition) -> String {
        text + "  - { id: desk, kind: container, state: { d: 3\(edition.hasMore ? ", w: 6" : "") } }\n"
            + (edition.hasPlan ? "  - { id: plan, kind: container, state: { e: 5 } }\n" : "")
    }

    private mutating func state(_ path: String, _ value: Value) { initial[path] = value }
    private mutating func rule(_ path: String, _ rule: Rule) { rules.append((path, rule, Model.node(of: path))) }

    /// Of a path, all but the name of the attribute.
    private static func node(of path: String) -> String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: ".")) ?? path.startIndex
        return String(path[..<end])
    }

    private static func rule(_ names: [String: String], depth: Int, _ generator: inout SeededGenerator) -> Rule {
        if depth == 0 || generator.chance(15) {
            if generator.chance(30) { return .number(Int64(generator.below(5))) }
            let name = generator.pick(names.keys.sorted())
            return .read(name: name, path: names[name] ?? "")
        }
        func part() -> Rule { rule(names, depth: depth - 1, &generator) }
        return switch generator.below(6) {
        case 0: .choose(part(), part(), part(), part())
        case 1: .combine("*", part(), part())
        case 2: .combine("-", part(), part())
        case 3: .combine(generator.chance(30) ? "/" : "%", part(), part())
        default: .combine("+", part(), part())
        }
    }

    /// nil: the rule fails.
    /// - Parameter known: results of other rules.
    private func value(_ rule: Rule, _ known: [String: Int64?]) -> Int64? {
        func value(_ rule: Rule) -> Int64? { self.value(rule, known) }
        switch rule {
        case .number(let number): return number
        case .read(_, let path):
            if let result = known[path] { return result }
            if case .int(let number)? = states[bindings[path] ?? path] { return number }
            return nil
        case .combine(let sign, let a, let b):
            guard let a = value(a), let b = value(b) else { return nil }
            switch sign {
            case "+": return checked(a.addingReportingOverflow(b))
            case "-": return checked(a.subtractingReportingOverflow(b))
            case "*": return checked(a.multipliedReportingOverflow(by: b))
            case "/": return b == 0 ? nil : a / b
            default: return b == 0 ? nil : a % b
            }
        case .choose(let a, let b, let yes, let no):
            guard let a = value(a), let b = value(b) else { return nil }
            return value(a < b ? yes : no)
        }
    }

    /// How many rules of a view have to run when its own state becomes another: those that have read something that has
    /// changed. A binding that they read for the first time may be followed then. nil: one of them fails, and nobody
    /// knows what a failing rule has read.
    func rulesToRun(ofView number: Int, settingOwn value: Value) -> ClosedRange<Int>? {
        let node = "/w/v\(number)."
        var next = self
        next.states[node + "n"] = value
        var (before, after): ([String: Int64?], [String: Int64?]) = ([:], [:])
        var count = 0
        var (followed, toFollow): (Set<String>, Set<String>) = ([], [])
        for (path, rule, _) in rules where path.hasPrefix(node) {
            var (read, readNext): (Set<String>, Set<String>) = ([], [])
            guard let old = self.value(rule, before, &read), let new = next.value(rule, after, &readNext) else {
                return nil
            }
            let hasChanged = read.contains { path in
                if let known = before[path] { return known != after[path] }
                return states[bindings[path] ?? path] != next.states[bindings[path] ?? path]
            }
            if hasChanged { count += 1 }
            before.updateValue(old, forKey: path)
            after.updateValue(hasChanged ? new : old, forKey: path)
            followed.formUnion(read)
            toFollow.formUnion(readNext.filter { bindings[$0] != nil })
        }
        return count...count + toFollow.subtracting(followed).count
    }

    /// - Parameter read: gets the paths that the rule reads.
    private func value(_ rule: Rule, _ known: [String: Int64?], _ read: inout Set<String>) -> Int64? {
        switch rule {
        case .number: break
        case .read(_, let path): read.insert(path)
        case .combine(_, let a, let b):
            guard value(a, known, &read) != nil, value(b, known, &read) != nil else { return nil }
        case .choose(let a, let b, let yes, let no):
            guard let a = value(a, known, &read), let b = value(b, known, &read) else { return nil }
            return value(a < b ? yes : no, known, &read)
        }
        return value(rule, known)
    }

    /// What all paths have, as `get` and events tell it.
    func contents() -> [String: Value] {
        var contents: [String: Value] = [:]
        func put(_ path: String, _ value: Value?) {
            contents[path] = value.map { ["value": $0] } ?? ["error": "ruleFailed"]
        }
        for (path, value) in states { put(path, value) }
        for (path, target) in bindings { put(path, states[target]) }
        // A rule reads only rules before it.
        var known: [String: Int64?] = [:]
        for (path, rule, _) in rules {
            let result = value(rule, known)
            known.updateValue(result, forKey: path)
            put(path, result.map { .int($0) })
        }
        put("/w.size", .int(textSize))
        put("/w/r.elements", states["/w.items"])
        if tree.layer > 0 { put("/mark.n", .int(Int64(tree.layer))) }
        for (index, element) in (states["/w.items"]?.list ?? []).enumerated() {
            guard let name = element.string else { continue }
            put("/w/r/\(name).element", element)
            put("/w/r/\(name).index", .int(Int64(index)))
        }
        for path in states.keys { if let (name, value) = successor(of: path) { put(name, value) } }
        put("/act.shift", ["parameters": ["by": ["type": "int", "default": 1]]])
        put("/act.swap", ["parameters": [:]])
        put("/act.guarded", ["parameters": [:]])
        // A place in a value is not named by a pattern, and is watched by its path alone.
        for (name, value) in places { put("/w.o." + name, value) }
        return contents
    }

    /// The paths that patterns do not name.
    static func isPlace(_ path: String) -> Bool { path.hasPrefix("/w.o.") }

    /// What an action writes, with all values from before it.
    private func steps(of action: String, _ by: Int64?) -> [Change] {
        let by = by ?? 1
        return switch action {
        case "/act.shift": [.add("/w.a", by), .add("/w.b", -by), .set("/act.n", sum("/act.n", by))]
        case "/act.swap": [.set("/act.n", states["/act.p"] ?? 0), .set("/act.p", states["/act.n"] ?? 0)]
        default: [.test("/w.on", true), .add("/act.n", 1)]
        }
    }

    private func sum(_ path: String, _ more: Int64) -> Value {
        if case .int(let number)? = states[path] { .int(number + more) } else { .int(more) }
    }

    /// - Returns: the code of the refusal; nil: it was done.
    mutating func perform(_ changes: [Change]) -> String? {
        if case .call(let action, let by)? = changes.first { return perform(steps(of: action, by)) }
        if case .set(let path, _)? = changes.first, path.hasPrefix(Model.past) { return nil }
        var written: [String: Value] = [:]
        for change in changes {
            var path = change.path
            var place: String?
            if Model.isPlace(path) { (place, path) = (String(path.dropFirst(5)), "/w.o") }
            path = bindings[path] ?? path
            guard let whole = written[path] ?? states[path] else {
                return rules.contains { $0.path == path } || path == "/w.size" ? "readOnly" : "notFound"
            }
            let old = place.flatMap { whole.map?[$0] } ?? whole
            var new = old
            switch change {
            case .set(_, let value):
                guard Model.kind(value) == Model.kind(old) else { return "typeMismatch" }
                new = value
            case .add(_, let more): if case .int(let number) = old { new = .int(number + more) }
            case .toggle: new = .bool(old != true)
            case .append(_, let value):
                if let text = old.string, let more = value.string { new = .string(text + more) }
            case .merge(_, let value):
                var map = old.map ?? ValueMap()
                for (key, value) in value.map ?? ValueMap() { map[key] = value }
                new = .map(map)
            case .test(_, let value): if old != value { return "conflict" }
            case .call: break
            }
            if let place {
                var map = whole.map ?? ValueMap()
                map[.string(place)] = new
                new = .map(map)
            }
            written[path] = new
        }
        for (path, value) in written where states[path] != value {
            states[path] = value
            self.written?.insert(path)
            hasChanged = true
        }
        if written["/w.items"] != nil { feed() }
        return nil
    }

    private static func kind(_ value: Value) -> Int {
        switch value {
        case .int: 0
        case .bool: 1
        case .string: 2
        case .list: 3
        case .map: 4
        default: 5
        }
    }

    /// An instance for each element.
    private mutating func feed() {
        written = nil
        let wanted = (states["/w.items"]?.list ?? []).compactMap(\.string).map { "/w/r/\($0).q" }
        for path in states.keys where path.hasPrefix("/w/r/") && !wanted.contains(path) { states[path] = nil }
        for path in wanted where states[path] == nil { states[path] = 0 }
    }

    mutating func become(_ wanted: Tree) {
        if wanted == tree { return }
        written = nil
        hasChanged = true
        if wanted.hasNode != tree.hasNode { states["/w/m.z"] = wanted.hasNode ? 0 : nil }
        if wanted.box != tree.box { states[wanted.ball + ".v"] = states.removeValue(forKey: tree.ball + ".v") }
        for (path, initial) in Model.optional
        where Model.has(path, wanted, edition) != Model.has(path, tree, edition) {
            let isThere = Model.has(path, wanted, edition)
            states[path] = isThere ? waiting.removeValue(forKey: path) ?? .int(initial) : nil
        }
        // The values of a removed node go, also those that have waited.
        if !edition.hasPlan, tree.plan == .made, wanted.plan != .made {
            for path in waiting.keys where path.hasPrefix("/plan.") { waiting[path] = nil }
        }
        tree = wanted
    }

    func isSame(as other: Model) -> Bool { states == other.states }

    mutating func begin() { feed() }

    /// The daemon has started again.
    /// - Parameter new: the scene with which it has.
    mutating func restart(_ new: Edition) {
        for path in transient { states[path] = initial[path] }
        for (path, initial) in Model.optional where Model.has(path, tree, new) != Model.has(path, tree, edition) {
            if Model.has(path, tree, new) {
                states[path] = waiting.removeValue(forKey: path) ?? .int(initial)
            } else {
                waiting[path] = states.removeValue(forKey: path)
            }
        }
        edition = new
        written = nil
    }

    /// The contents of the states that were written since this was asked last, and of all that depends on them; nil:
    /// the tree has changed, too.
    mutating func takeWritten() -> [String: Value]? {
        defer { written = [] }
        guard let written else { return nil }
        var changed: [String: Value] = [:]
        for path in written {
            changed[path] = ["value": states[path] ?? .null]
            switch path {
            case "/w.a", "/w.b":
                for (name, target) in bindings where target == path { changed[name] = changed[path] }
            case "/w.text": changed["/w.size"] = ["value": .int(textSize)]
            case "/w.o": for (name, value) in places { changed["/w.o." + name] = ["value": value] }
            default:
                if let (name, value) = successor(of: path) { changed[name] = ["value": value] }
            }
        }
        let isShared = written.contains("/w.a") || written.contains("/w.b")
        var known: [String: Int64?] = [:]
        // The rules of a node read its own names, and these two.
        let nodes = Set(written.map(Model.node))
        for (path, rule, node) in rules {
            guard isShared && node.hasPrefix("/w") || nodes.contains(node) else { continue }
            let result = value(rule, known)
            known.updateValue(result, forKey: path)
            changed[path] = result.map { ["value": .int($0)] } ?? ["error": "ruleFailed"]
        }
        return changed
    }

    private var textSize: Int64 { Int64(states["/w.text"]?.string?.unicodeScalars.count ?? 0) }

    /// The places in a value that are watched.
    private var places: [(name: String, value: Value)] {
        ["x", "y"].compactMap { name in (states["/w.o"]?.map?[.string(name)]).map { (name, $0) } }
    }

    /// What instances and boxes compute of their state.
    private func successor(of path: String) -> (path: String, value: Value)? {
        guard path.hasPrefix("/w/r/") || path.hasPrefix("/box"), case .int(let number)? = states[path] else {
            return nil
        }
        return (path.dropLast() + (path.hasPrefix("/box") ? "next" : "p"), .int(number + 1))
    }
}

private func checked(_ result: (partialValue: Int64, overflow: Bool)) -> Int64? {
    result.overflow ? nil : result.partialValue
}
