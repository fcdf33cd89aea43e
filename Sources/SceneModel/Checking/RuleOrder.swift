/// The order of rules that read each other.
enum RuleOrder {
    /// The circles among rules that read rules, each as the numbers of its rules, with the first one again at its end.
    static func circles(_ reads: [[Int]]) -> [[Int]] {
        var circles: [[Int]] = []
        _ = walk(reads) { way, first in circles.append(way.map(\.user).drop { $0 != first } + [first]) }
        return circles
    }

    /// The numbers of the rules. Each follows the rules whose names occur in its text, except within a cycle.
    static func order(of names: [String], _ texts: [String]) -> [Int] {
        guard names.count > 1 else { return Array(names.indices) }
        let numbers = Dictionary(zip(names, names.indices)) { first, _ in first }
        return order(texts.map { text in RuleOrder.words(text).compactMap { numbers[$0] } })
    }

    /// The numbers of things that use each other. Each follows what it uses, except within a cycle.
    static func order(_ uses: [[Int]]) -> [Int] { walk(uses) { _, _ in } }

    /// Visits the things in the order of their numbers, and what each uses before it.
    /// - Parameter meetCircle: called for each cycle with the path that was walked and a number on it. The last thing
    ///   of the path uses the thing with this number.
    /// - Returns: the numbers, each behind what it uses.
    private static func walk(
        _ uses: [[Int]], meetCircle: (_ way: [(user: Int, next: Int)], Int) -> Void
    ) -> [Int] {
        var order: [Int] = []
        enum Visit { case none, begun, ended }
        var visits = [Visit](repeating: .none, count: uses.count)
        for start in uses.indices where visits[start] == .none {
            var stack = [(user: start, next: 0)]
            visits[start] = .begun
            while let (user, next) = stack.popLast() {
                guard next < uses[user].count else {
                    visits[user] = .ended
                    order.append(user)
                    continue
                }
                stack.append((user, next + 1))
                let used = uses[user][next]
                switch visits[used] {
                case .none:
                    visits[used] = .begun
                    stack.append((used, 0))
                case .begun: meetCircle(stack, used)
                case .ended: break
                }
            }
        }
        return order
    }

    /// The runs of letters, digits and _ in a text. They include every name that a rule reads, and possibly others.
    private static func words(_ text: String) -> [String] {
        text.utf8.split { !$0.isOfName }.map { String(Substring($0)) }
    }
}
