import AttributeValues
import Testing

@testable import ViewGraph

/// Over a wiring alone.
@Suite("reactions")
struct ReactionsTests {
    private let scene: WiredScene
    private let persistence: Persistence
    private let reactions: Reactions
    private var known = 0

    init() throws {
        scene = try WiredScene(
            """
            nodes:
              - id: a
                state: { count: 1, seen: 0 }
                onChange: { of: count, perform: { set: { $seen: =newValue - oldValue } } }
                onAppear: { set: { $seen: 1 } }
                children: [{ id: b, onDisappear: { set: { $seen: 2 } } }]
            """)
        persistence = Persistence(of: scene.wiring.nodes)
        reactions = Reactions(persistence)
        reactions.attach(to: scene.wiring)
        for (action, row) in scene.actions { reactions.connect(action, at: row) }
    }

    private mutating func taken() -> [String] { reactions.takeDue(&known).map(\.path) }

    @Test("an action is called when its node appears, and then for each change of its value") mutating func changes()
        throws
    {
        #expect(taken() == ["/a.onAppear"])
        #expect(taken() == [])
        try scene.wiring.set("/a.count", 4)
        let reaction = try #require(reactions.takeDue(&known).first)
        let call = try #require(reactions.call(of: reaction))
        #expect(try scene.wiring.makeWrites(of: call).map(\.value) == [3])
        try scene.wiring.set("/a.count", 4)
        #expect(taken() == [], "the value is the same")
    }

    @Test(
        "while scenes make the tree nothing is called, then nodes appear, and later values are compared with the first")
    mutating func starts() throws {
        persistence.author = .scenes
        #expect(taken() == [])
        try scene.wiring.set("/a.count", 7)
        #expect(taken() == [])
        persistence.author = .clients
        #expect(reactions.areWaiting && taken() == ["/a.onAppear"] && !reactions.areWaiting)
        try scene.wiring.set("/a.count", 8)
        #expect(taken() == ["/a.onChange"])
    }

    @Test("a subtree with an action for its end stays until the action was called") mutating func ends() throws {
        _ = taken()
        let row = try scene.wiring.node(at: ["a", "b"]).row
        #expect(!reactions.noteLeft(0, []) && reactions.noteLeft(row, [row]) && !reactions.noteLeft(row, [row]))
        #expect(taken() == ["/a/b.onDisappear"])
    }

    @Test("an action that fails has the error as its value until a call succeeds") mutating func failures() throws {
        let reaction = try #require(reactions.takeDue(&known).first)
        reactions.note(Failure(.ruleFailed, "no"), of: reaction)
        #expect(scene.wiring.content(of: reaction.action).failure?.code == .ruleFailed)
        reactions.note(nil, of: reaction)
        #expect(scene.wiring.content(of: reaction.action).value?.map != nil)
    }
}
