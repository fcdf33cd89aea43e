// Rules that cost more than they look.

let ruleAttacks: [Attack] =
    [1000, 4000, 20_000].map { count in
        Attack(name: "cycle-of-\(count)-rules") { target in
            let client = try target.connect()
            let rules = (0...count).map { #""a\#($0)":"a\#($0 == count ? 0 : $0 + 1) + 1""# }.joined(separator: ",")
            try client.call("apply", #"{"document":{"agd":1,"nodes":[{"id":"ring","computed":{\#(rules)}}]}}"#)
            try client.call("get", #"{"path":"/ring.a0"}"#)
            try client.call("get", #"{"path":"/ring.a\#(count / 2)"}"#)
        }
    } + [
        Attack(name: "eval-over-text-of-15-MB") { target in
            let text = String(repeating: "a", count: 15_000_000)
            try target.connect().call(
                "eval", #"{"expression":"lists.range(190000).all(i, t.size() > i)","bindings":{"t":"\#(text)"}}"#)
        },
        Attack(name: "re2-many-patterns") { target in
            let client = try target.connect()
            try client.call(
                "eval",
                #"{"expression":"lists.range(3000).all(i, 'abc'.matches('\\\\pL{1,1000}' + string(i)) || true)"}"#)
        },
        Attack(name: "re2-slow-path") { target in
            let text = String(repeating: "ab", count: 4_500_000)
            try target.connect().call(
                "eval", #"{"expression":"t.matches(r'[ab]*a[ab]{900}c')","bindings":{"t":"\#(text)"}}"#)
        },
        Attack(name: "re2-extract-all") { target in
            let text = String(repeating: "a", count: 200_000)
            try target.connect().call(
                "eval", #"{"expression":"regex.extractAll(t, 'a[^b]*b|a').size()","bindings":{"t":"\#(text)"}}"#)
        },
        // Rules that data makes anew at each start.
        Attack(name: "costly-rules-below-forEach-and-a-restart", ending: .restarted) { target in
            let client = try target.connect()
            let costly = "=lists.range(190000).all(i, t.size() > i) ? [1] : [2]"
            let node =
                #"{"kind":"container","children":[{"id":"inner","forEach":{"in":"\#(costly)","id":"self","as":"j","node":{"let":{"y":"=j"}}}}]}"#
            let list = #"{"id":"list","forEach":{"in":"=lists.range(8)","id":"self","as":"i","node":\#(node)}}"#
            let text = String(repeating: "a", count: 8_000_000)
            try client.call(
                "apply",
                #"{"document":{"agd":1,"nodes":[{"id":"box","kind":"container","state":{"t":"\#(text)"},"children":[\#(list)]}]}}"#
            )
        },
    ]
