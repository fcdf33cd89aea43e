import AttributeValues
import Testing

@Suite("Near names")
struct NearestNameTests {
    @Test(
        "a name with few mistakes for its length is found, whatever its case",
        arguments: [
            ("isPlayign", "isPlaying"), ("sybmol", "symbol"), ("Epsiode", "episode"), ("titel", "title"), ("xs", "ys"),
            ("fontScael", "fontScale"), ("a", nil), ("volume", nil), ("", nil), ("verylongunknownname", nil),
        ] as [(String, String?)])
    func found(name: String, near: String?) {
        #expect(
            NearestName.find(name, among: ["isPlaying", "symbol", "episode", "title", "ys", "b", "fontScale"]) == near)
    }

    @Test("the first of equally near names in alphabetical order is suggested, and never the name itself")
    func order() {
        #expect(NearestName.find("load", among: ["loaf", "goad", "load", "road"]) == "goad")
        #expect(NearestName.find("load", among: ["load"]) == nil)
        #expect(NearestName.hint("loda", among: ["load"]) == "did you mean 'load'?")
    }

    @Test("if no name is near, the hint lists the first eight")
    func listed() {
        #expect(NearestName.hint("loda", orSomeOf: ["load", "x"]) == "did you mean 'load'?")
        #expect(NearestName.hint("volume", orSomeOf: ["load", "x"]) == "it has load, x")
        #expect(
            NearestName.hint("volume", orSomeOf: (0..<9).map { "n\($0)" }) == "it has n0, n1, n2, n3, n4, n5, n6, n7, …"
        )
        #expect(NearestName.hint("volume", orSomeOf: []) == nil)
    }

    @Test("a long name with more than four mistakes is another name") func longNames() {
        let name = "aVeryLongNameOfAnAttribute"
        #expect(NearestName.find("xVexyLoxgNxmeOfAnAttribute", among: [name]) == name)
        #expect(NearestName.find("xVexyLoxgNxmeOxAnAttribute", among: [name]) == nil)
    }

    /// Optimal string alignment distance by its definition.
    private func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var table = Array(repeating: Array(repeating: 0, count: b.count + 1), count: a.count + 1)
        for i in 0...a.count {
            for j in 0...b.count {
                if i == 0 || j == 0 {
                    table[i][j] = i + j
                    continue
                }
                var least = min(
                    table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    least = min(least, table[i - 2][j - 2] + 1)
                }
                table[i][j] = least
            }
        }
        return table[a.count][b.count]
    }

    @Test("two names are near exactly if the edits between them are at most a third of the length")
    func limit() {
        var random = RandomBits(state: 7)
        for _ in 0..<3000 {
            let a = (0..<random.next(12) + 2).map { _ in UInt8(97 + random.next(3)) }
            let b = (0..<random.next(14)).map { _ in UInt8(97 + random.next(3)) }
            let (name, other) = (String(decoding: a, as: UTF8.self), String(decoding: b, as: UTF8.self))
            guard name != other else { continue }
            #expect(
                (NearestName.find(name, among: [other]) != nil) == (distance(a, b) <= max(1, a.count / 3)),
                "\(name) \(other)")
        }
    }
}

/// The same numbers at every run.
private struct RandomBits {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
