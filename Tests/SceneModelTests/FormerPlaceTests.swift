import SceneModel
import Testing

@Suite("Former places of nodes")
struct FormerPlaceTests {
    @Test(
        "a former place that cannot be one is told where it is",
        arguments: [
            (
                "nodes: [{ id: a, was: b }, { id: b }]",
                "1:23 the scene still has a node 'b' | was names a place that no node has any more; leave it out"
            ),
            (
                "nodes: [{ id: a, was: a }]",
                "1:23 the scene still has a node 'a' | was names a place that no node has any more; leave it out"
            ),
            (
                "nodes: [{ id: a, was: c }, { id: b, was: c }]",
                "1:42 two nodes were 'c' | only one of them can have its values"
            ),
            (
                "nodes: [{ id: a, was: c }, { id: b, children: [{ id: d, was: ../c }] }]",
                "1:62 two nodes were '../c' | only one of them can have its values"
            ),
            (
                "nodes: [{ id: a, children: [{ id: x, was: /b/y }] }, { id: b, children: [{ id: y }] }]",
                "1:43 the scene still has a node '/b/y' | was names a place that no node has any more; leave it out"
            ),
            (
                "nodes: [{ id: a, children: [{ id: x, was: y }] }, { id: b, was: c, children: [{ id: z, was: /a/y }] }]",
                "1:93 two nodes were '/a/y' | only one of them can have its values"
            ),
            (
                "nodes: [{ id: a, was: ../b }]",
                "1:23 '../b' leads out of the nodes that are written here"
            ),
            (
                "components: { C: { children: [{ id: a, was: /b }] } }",
                "1:45 '/b' names one node, and this one is made several times | write a path from the parent, as lamp or ../lamp"
            ),
            (
                "nodes: [{ id: l, forEach: { in: [a], id: self, node: { children: [{ id: a, was: /b }] } } }]",
                "1:81 '/b' names one node, and this one is made several times | write a path from the parent, as lamp or ../lamp"
            ),
            (
                "components: { C: { was: b } }",
                "1:25 a component has no id, so it was nothing else | write was at the nodes in it, at the uses of a component, or at the forEach itself"
            ),
            (
                "nodes: [{ id: l, forEach: { in: [a], id: self, node: { was: b } } }]",
                "1:61 the node of a forEach has no id, so it was nothing else | write was at the nodes in it, at the uses of a component, or at the forEach itself"
            ),
            (
                "components: { C: { children: [{ id: a }] } }\nnodes: [{ id: c, component: C, children: [{ id: b, was: a }] }]",
                "2:57 the scene still has a node 'a' | was names a place that no node has any more; leave it out"
            ),
            (
                "nodes: [{ id: a, was: '' }]",
                "1:23 an id cannot be empty | write the former id, or a path as /room/lamp"
            ),
            (
                "nodes: [{ id: a, was: /b.c }]",
                "1:23 '/b.c' names an attribute, not a node | write the former id, or a path as /room/lamp"
            ),
            (
                "nodes: [{ id: a, was: / }]",
                "1:23 '/' names no node that was renamed or moved | write the former id, or a path as /room/lamp"
            ),
            ("nodes: [{ id: a, was: [b] }]", "1:23 was is an id or a path, not a list"),
        ]) func mistakes(text: String, fault: String)
    {
        #expect(onlyFault(text) == fault)
    }

    @Test(
        "a former place may be any place that no node has",
        arguments: [
            "nodes: [{ id: a, was: b }]", "nodes: [{ id: a, children: [{ id: b, was: ../b }] }]",
            "nodes: [{ id: a, was: b }, { id: c, children: [{ id: d, was: /b/d }] }]",
            "nodes: [{ id: a, was: 'cpu.0' }]", "nodes: [{ id: a, was: 7 }]",
            "components: { C: { children: [{ id: a, was: b }] } }\nnodes: [{ id: b, component: C }, { id: d, component: C }]",
            "nodes: [{ id: a, children: [{ id: c, was: if0, if: 'true', then: [{ id: x, was: y }], else: [{ id: x, was: y }] }] }]",
        ]) func good(text: String) throws
    {
        _ = try scene(text)
    }
}
