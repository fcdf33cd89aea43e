/// The order of rules that read each other.
enum RuleOrder {
    /// The circles among rules that read rules, each as the numbers of its rules, with the first one again at its end.
    static func circles(_ reads: [[Int]]) -> [[Int]] {
        var circles: [[Int]] = []
        var isDone = [Bool](repeating: false, count: reads.count)
        for start in reads.indices where !isDone[start] {
            var stack: [(rule: Int, next: Int)] = [(start, 0)]
            while let (rule, next) = stack.popLast() {
                guard next < reads[rule].count else {
                    isDone[rule] = true
                    continue
                }
                stack.append((rule, next + 1))
                let read = reads[rule][next]
                if let first = stack.firstIndex(where: { $0.rule == read }) {
                    circles.append(stack[first...].map(\.rule) + [read])
                } else if !isDone[read] {
                    stack.append((read, 0))
                }
            }
        }
        return circles
    }

    /// The numbers of the rules. Each follows the rules whose names occur in its text, except within a cycle.
    static func order(of names: [String], _ texts: [String]) -> [Int] {
        guard names.count > 1 else { return Array(names.indices) }
        let numbers = Dictionary(zip(names, names.indices)) { first, _ in first }
        return order(texts.map { text in RuleOrder.words(text).compactMap { numbers[$0] } })
    }

    /// The numbers of things that use each other. Each follows what it uses, except within a cycle.
    static func order(_ uses: [[Int]]) -> [Int] {
        var order: [Int] = []
        var isEntered = [Bool](repeating: false, count: uses.count)
        for start in uses.indices where !isEntered[start] {
            var stack: [(user: Int, next: Int)] = [(start, 0)]
            isEntered[start] = true
            while let (user, next) = stack.popLast() {
                guard next < uses[user].count else {
                    order.append(user)
                    continue
                }
                stack.append((user, next + 1))
                let used = uses[user][next]
                if !isEntered[used] {
                    isEntered[used] = true
                    stack.append((used, 0))
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
