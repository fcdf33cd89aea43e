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
        let reads = texts.map { text in RuleOrder.words(text).compactMap { numbers[$0] } }
        var order: [Int] = []
        var isEntered = [Bool](repeating: false, count: names.count)
        for start in names.indices where !isEntered[start] {
            var stack: [(rule: Int, next: Int)] = [(start, 0)]
            isEntered[start] = true
            while let (rule, next) = stack.popLast() {
                guard next < reads[rule].count else {
                    order.append(rule)
                    continue
                }
                stack.append((rule, next + 1))
                let read = reads[rule][next]
                if !isEntered[read] {
                    isEntered[read] = true
                    stack.append((read, 0))
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
