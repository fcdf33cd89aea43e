import AttributeValues
import TestSupport
import Testing

@Suite("values that share most of their parts")
struct DifferingTests {
    private let long: [Value] = (0..<10_000).map { ["id": .string("element \($0) of the list"), "n": .int(Int64($0))] }

    private func length(_ value: Value) -> Int {
        var budget = Int.max
        value.draw(from: &budget, isTyped: false)
        return Int.max - budget
    }

    @Test("a part of a long list is measured alone, whether it is written, appended, inserted or removed")
    func measured() throws {
        let old = Value.list(long)
        let path = try AttributePath("/a.list[5000].n").steps
        let written = try old.changing(path) { _ in "a text" }
        var (inserted, removed) = (long, long)
        inserted.insert(["id": "new"], at: 5000)
        removed.remove(at: 5000)
        for new in [written, .list(long + [1]), .list(inserted), .list(removed)] {
            let growth = new.growth(since: old)
            #expect(growth.bytes == length(new) - length(old))
            #expect(growth.measured > 0 && growth.measured < 100)
        }
    }

    @Test("elements that a type holds already keep their storage; new ones are converted")
    func accepted() throws {
        let type = ValueType.list(.map(key: .scalar(.string), value: .scalar(.double)))
        let plain = Value.list((0..<100).map { ["x": .int($0), "y": .int(0)] })
        let old = try #require(type.accept(plain))
        let path = try AttributePath("/a.list[50].x").steps
        let new = try #require(type.accept(try old.changing(path) { _ in .int(7) }, after: old))
        #expect(try new == type.accept(old.changing(path) { _ in .double(7) }))
        let (before, after) = (try #require(old.list), try #require(new.list))
        #expect((0..<100).allSatisfy { ($0 == 50) != after[$0].isIdentical(to: before[$0]) })
        #expect(try type.accept(old.changing(path) { _ in "seven" }, after: old) == nil)
        #expect(type.accept(.list(before + [["x": "seven"]]), after: old) == nil)
        #expect(type.accept(.list(before + [["x": 7]]), after: old) == .list(before + [["x": 7.0]]))
    }

    @Test(
        "the growth is the difference of the lengths for any change of any values, and a type accepts the same",
        arguments: freshSeeds(20))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func value(_ depth: Int) -> Value {
            switch random.below(depth > 2 ? 3 : 5) {
            case 0: return .int(Int64(random.below(5)))
            case 1: return .string(String(repeating: "x", count: random.below(30)))
            case 2: return .double(Double(random.below(5)))
            case 3: return .list((0..<random.below(5)).map { _ in value(depth + 1) })
            default:
                return .map(ValueMap((0..<random.below(4)).map { (.string("k\($0)"), value(depth + 1)) }))
            }
        }
        func changed(_ old: Value) -> Value {
            switch old {
            case .list(var list):
                guard !list.isEmpty, !random.chance(10) else { return .list(list + [value(2)]) }
                let position = random.below(list.count)
                switch random.below(4) {
                case 0: list.insert(value(2), at: position)
                case 1: list.remove(at: position)
                default: list[position] = changed(list[position])
                }
                return .list(list)
            case .map(var map):
                guard map.count > 0, !random.chance(10) else {
                    map["new"] = value(2)
                    return .map(map)
                }
                let entry = map.entry(at: random.below(map.count))
                map[entry.key] = random.chance(20) ? nil : changed(entry.value)
                return .map(map)
            default: return value(2)
            }
        }
        let types: [ValueType] = [
            .dyn, .list(.dyn), .list(.scalar(.double)), .list(.list(.scalar(.double))), .nullable(.list(.dyn)),
            .map(key: .scalar(.string), value: .scalar(.double)),
            .map(key: .scalar(.string), value: .list(.scalar(.double))),
        ]
        for _ in 0..<500 {
            let old = value(0)
            var new = old
            for _ in 0...random.below(3) { new = changed(new) }
            #expect(new.growth(since: old).bytes == length(new) - length(old))
            for type in types {
                guard let held = type.accept(old) else { continue }
                let next = changed(held)
                #expect(type.accept(next, after: held) == type.accept(next), "\(type): \(held) → \(next)")
            }
        }
    }
}
