/// The standard functions, made once from their definitions.
enum FunctionTable {
    static let standard: [String: Function] = {
        var list = FunctionList()
        list.defineOperators()
        list.defineCore()
        list.defineConversions()
        list.defineTime()
        list.defineOptionals()
        list.defineStrings()
        list.defineMath()
        list.defineLists()
        list.defineMaps()
        list.definePatterns()
        list.defineNetwork()
        return list.functions
    }()

    /// The parts of functions' names before the dot.
    static let namespaces = Set(
        standard.keys.compactMap { name in name.firstIndex(of: ".").map { String(name[..<$0]) } })
}
