import AttributeValues
import Testing

@testable import ViewGraph

/// Over a wiring alone.
@Suite("animation modifiers")
struct AnimationsTests {
    @Test("the nearest modifier whose value has changed animates what is inside it") func nearest() throws {
        let scene = try WiredScene(
            """
            nodes:
              - id: a
                state: { x: 0, y: 0 }
                animation: { curve: linear, value: =x }
                children: [{ id: b, animation: { curve: null, value: $y }, let: { sum: =x + y } }]
            """)
        let animations = Animations()
        animations.attach(to: scene.wiring)
        let sum = try scene.vertex("/a/b.sum")
        func modifier(after path: String) throws -> String?? {
            let stamp = scene.wiring.stamp
            try scene.wiring.set(path, .int(Int64(stamp)))
            var known = KnownSurroundings()
            return animations.surroundings(of: sum, since: stamp, &known).modifier
        }
        #expect(animations.isEmpty)
        animations.watchModifiers(around: sum)
        #expect(!animations.isEmpty)
        #expect(try modifier(after: "/a.x") == .some("linear"))
        #expect(try modifier(after: "/a.y") == .some(nil))
    }
}
