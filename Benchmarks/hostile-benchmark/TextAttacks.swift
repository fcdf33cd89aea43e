// Built-in functions over texts of a megabyte, in a loop.

/// The name, the text `t` (and `u`, equal to it), and what each turn of the loop does with it.
private let functions: [(name: String, text: String, expression: String)] = [
    ("size", "a", "t.size() > i"),
    ("int", "0", "int(t) == 0 || true"),
    ("double", "0", "double(t) == 0.0 || true"),
    ("timestamp", "2", "timestamp(t) == timestamp(0) || true"),
    ("duration", "1", "duration(t) == duration('1s') || true"),
    ("isIP", "1", "isIP(t) || true"),
    ("isCIDR", "1", "isCIDR(t) || true"),
    ("isCanonical", "1", "ip.isCanonical(t) || true"),
    ("getHours", "E", "timestamp(0).getHours(t) == 0 || true"),
    ("look-up-by-key", "k", "m[t] == 1"),
    ("optionals-equality", "o", "optional.of(t) == optional.of(u)"),
    ("equality", "o", "t == u"),
]

let textAttacks = functions.map { function in
    Attack(name: "texts-\(function.name)", seconds: 1.5) { target in
        let text = String(repeating: function.text, count: 1_000_000)
        let bindings = #"{"t":"\#(text)","u":"\#(text)","m":{"\#(text)":1}}"#
        let expression = "lists.range(190000).all(i, \(function.expression))"
        try target.connect().call("eval", #"{"expression":"\#(expression)","bindings":\#(bindings)}"#)
    }
}
