import AttributeValues
import Testing
@testable import agctl

@Suite("the tree as text")
struct TreeDrawingTests {
    static var tree: Value {
        [
            "id": "", "path": "/", "kind": "container",
            "children": [
                [
                    "id": "player", "path": "/player", "kind": "container",
                    "attributes": [
                        "isPlaying": ["kind": "state", "type": "bool", "value": true],
                        "broken": [
                            "kind": "computed", "type": "int",
                            "error": ["code": "ruleFailed", "message": "division by zero"], "rule": "1 / n",
                        ],
                    ],
                    "children": [
                        [
                            "id": "web 1", "path": "/player/\"web 1\"", "kind": "view", "component": "Host",
                            "attributes": [
                                "on": ["kind": "binding", "type": "bool", "value": true, "target": "/player.isPlaying"]
                            ],
                        ],
                        ["id": "rest", "path": "/player/rest", "kind": "group", "childCount": 3],
                    ],
                ]
            ],
        ]
    }

    private func draw(columns: Int = .max, attributes: Bool = true) -> String {
        TreeDrawing(style: Style(isOn: false), columns: columns, showsAttributes: attributes).text(Self.tree)
    }

    @Test("nodes, attributes, values, rules and targets stand in a tree")
    func whole() {
        #expect(
            draw() == """
                /
                └─ player
                   ├─ .isPlaying  state bool    true
                   ├─ .broken     computed int  error: division by zero  = 1 / n
                   ├─ "web 1" Host
                   │  └─ .on  binding bool  true  → /player.isPlaying
                   └─ rest group
                      └─ 3 more nodes

                """)
    }

    @Test("without attributes only nodes are drawn")
    func nodes() {
        #expect(
            draw(attributes: false) == "/\n└─ player\n   ├─ \"web 1\" Host\n   └─ rest group\n      └─ 3 more nodes\n")
    }

    @Test("on a narrow terminal lines are cut, not wrapped")
    func narrow() {
        for columns in [40, 48, 60] {
            #expect(
                draw(columns: columns).split(separator: "\n").allSatisfy { DisplayWidth.of(String($0)) <= columns },
                "\(columns)")
        }
    }

    @Test("a tree as deep as a scene may be is drawn")
    func deep() {
        var node: Value = ["id": "x", "path": "/x", "kind": "view"]
        for _ in 0..<500 { node = ["id": "x", "path": "/x", "kind": "container", "children": .list([node])] }
        let text = TreeDrawing(style: Style(isOn: false), columns: .max, showsAttributes: true).text(node)
        #expect(text.split(separator: "\n").count == 501)
    }
}
