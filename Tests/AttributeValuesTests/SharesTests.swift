import AttributeValues
import Testing

@Suite("Shares of a limit")
struct SharesTests {
    /// Takes as much as there is for the owner, one at a time.
    private func takeAll(_ shares: inout Shares<String>, _ owner: String, _ standing: Standing, of limit: Int) -> Int {
        var count = 0
        while shares.verdict(on: 1, for: owner, standing, of: limit) == .fits {
            shares.add(1, for: owner)
            count += 1
        }
        return count
    }

    @Test(
        "each greedy owner leaves something for the next, and the last part is for root", arguments: [64, 1000, 50_000])
    func greedy(_ limit: Int) {
        var shares = Shares<String>()
        let common = limit - limit / 64
        #expect(takeAll(&shares, "greedy", .ordinary, of: limit) == common * 3 / 4)
        #expect(shares.verdict(on: 1, for: "greedy", .ordinary, of: limit) == .beyondShare)
        #expect(takeAll(&shares, "rightless", .rightless, of: limit) > 0)
        #expect(takeAll(&shares, "modest", .ordinary, of: limit) > 0)
        #expect(shares.used <= common)
        #expect(
            takeAll(&shares, "root", .first, of: limit) == limit - shares.used(by: "greedy")
                - shares.used(by: "rightless") - shares.used(by: "modest"))
        #expect(shares.used == limit && shares.verdict(on: 1, for: "root", .first, of: limit) == .full)
    }

    @Test("nobody gets at one time more than his share", arguments: [1, 2, 3, 63, 64, 65, 1000])
    func atOnce(_ limit: Int) {
        let shares = Shares<String>()
        #expect(shares.verdict(on: limit, for: "root", .first, of: limit) == .fits)
        #expect((shares.verdict(on: limit, for: "greedy", .ordinary, of: limit) == .fits) == (limit == 1))
        #expect(shares.verdict(on: 1, for: "modest", .ordinary, of: limit) == .fits)
        #expect(shares.verdict(on: 1, for: "rightless", .rightless, of: limit) == .fits)
    }

    @Test("what has been given back is there for others") func returned() {
        var shares = Shares<String>()
        let all = takeAll(&shares, "greedy", .ordinary, of: 100)
        shares.add(-all, for: "greedy")
        #expect(shares.used == 0 && shares.used(by: "greedy") == 0)
        #expect(takeAll(&shares, "modest", .ordinary, of: 100) == all)
    }
}
