import AttributeValues
import Testing

/// The examples of "ContainerValueKey", "ContainerValues" and "Mastering container views".
@Suite("SwiftUI: container values")
struct SwiftUIContainerTests {
    @Test("a container shows each subview with the value that it is marked with, or the default")
    func containerValueKey() throws {
        let example = try Example("container-value-key")
        let rows = "/myContainer/rows"
        #expect(
            try example.watch("\(rows)/*/caption.string").values == [
                "\(rows)/a/caption.string": "Hello", "\(rows)/b/caption.string": "World",
                "\(rows)/c/caption.string": "Default value",
            ])
        #expect(try example.shown(in: "\(rows)/a") == ["/myContainer/a", "\(rows)/a/caption"])
        try example.merge(
            """
            nodes:
              - id: myContainer
                component: MyContainer
                children: [{ id: d, component: Text, let: { string: D }, containerValues: { myCustomValue: New } }]
            """)
        #expect(try example.shown(in: "\(rows)/d") == ["/myContainer/d", "\(rows)/d/caption"])
        #expect(try example.get("\(rows)/d/caption.string") == "New")
        try example.remove("/myContainer/a")
        #expect(try example.get("\(rows).elements") == ["b", "c", "d"])
    }

    @Test("a dedicated modifier marks its view as the key path does")
    func modifier() throws {
        let example = try Example("container-value-modifier")
        #expect(
            try example.watch("/stack.values").values["/stack.values"]
                == ["Default value", "Another string", "Another string"])
        #expect(
            try example.set("/stack.text", "A third").values
                == ["/stack.values": ["Default value", "A third", "A third"]])
        // What else a subview holds is its own affair.
        #expect(try example.set("/stack/modified/myView.isSelected", true).updates == 0)
    }

    @Test("the type of a key follows from its default, which holds where nothing is set")
    func entry() throws {
        let example = try Example("container-value-entry")
        #expect(try example.watch("/stack.values").values["/stack.values"] == ["Plain", "Default value"])
        #expect(try example.set("/stack.isMarked", true).values["/stack.values"] == ["Marked", "Default value"])
        #expect(
            try example.client.refusal(
                "apply",
                [
                    "document": "nodes: [{ id: x, containerValues: { myCustomValue: 1 } }]"
                ])["data"]?["code"] == "typeMismatch")
    }

    @Test("texts made of the subviews' values follow them, and come and go with the subviews")
    func groupSubviews() throws {
        let example = try Example("group-subviews")
        let texts = "/content/group/texts"
        #expect(
            try example.watch("\(texts)/*.string").values == [
                "\(texts)/a.string": "Hello", "\(texts)/b.string": "World",
            ])
        try example.watch("\(texts)/**", events: ["structure"])
        let told = try example.set("/content.a", "Hi")
        #expect(told.values == ["\(texts)/a.string": "Hi"])
        #expect(told.added.isEmpty && told.removed.isEmpty)
        let grown = try example.merge(
            "nodes: [{ id: c, component: Text, let: { string: C }, containerValues: { myCustomValue: '!' } }]",
            at: "/content/group")
        #expect(grown.added.contains("\(texts)/c"))
        #expect(try example.get("\(texts)/c.string") == "!")
        #expect(try example.remove("/content/group/b").removed.contains("\(texts)/b"))
        #expect(try example.get("\(texts)/a.string") == "Hi")
    }

    @Test("values reach the closest container through wrappers that are none, and do not escape it")
    func containerValues() throws {
        let example = try Example("container-values")
        #expect(
            try example.watch("/outer.values", "/outer/stack.values").values == [
                "/outer.values": [0], "/outer/stack.values": [1, 2, 3],
            ])
        let told = try example.merge(
            "nodes: [{ id: c, containerValues: { myCustomValue: 4 } }]", at: "/outer/stack/padding")
        #expect(told.values == ["/outer/stack.values": [1, 2, 4]])
        // A value on the stack itself is the outer container's to read.
        let marked = try example.merge("nodes: [{ id: stack, containerValues: { myCustomValue: 9 } }]", at: "/outer")
        #expect(marked.values == ["/outer.values": [9]])
    }

    @Test("a container reads a direct subview's value, and not one behind a stack with a single child")
    func subview() throws {
        let example = try Example("container-values-subview")
        #expect(
            try example.watch("/*.texts").values == ["/direct.texts": ["value = 1"], "/wrapped.texts": ["value = 0"]])
        #expect(
            try example.merge("nodes: [{ id: a, containerValues: { myCustomValue: 5 } }]", at: "/wrapped/stack").updates
                == 0)
        #expect(
            try example.merge("nodes: [{ id: a, containerValues: { myCustomValue: 5 } }]", at: "/direct").values
                == ["/direct.texts": ["value = 5"]])
    }

    @Test("parts of a grouped value are written by their key paths and keep the others")
    func pinPosition() throws {
        let example = try Example("pin-position")
        func pin(_ rotation: Double, _ xOffset: Int64) -> Value {
            ["rotation": .double(rotation), "xOffset": .int(xOffset)]
        }
        #expect(
            try example.watch("/board.pins").values["/board.pins"] == [pin(0, 3), pin(10, 5), pin(0, 0), pin(45, 3)])
        let told = try example.merge("nodes: [{ id: a, containerValues: { pinPosition.rotation: 90 } }]", at: "/board")
        #expect(told.values["/board.pins"] == [pin(90, 3), pin(10, 5), pin(0, 0), pin(45, 3)])
    }

    @Test("a modifier for each part of a grouped value, one inside the other, write both parts")
    func pinModifiers() throws {
        let example = try Example("pin-modifiers")
        func pin(_ rotation: Double, _ xOffset: Int64) -> Value {
            ["rotation": .double(rotation), "xOffset": .int(xOffset)]
        }
        #expect(try example.watch("/board.pins").values["/board.pins"] == [pin(0, 3), pin(10, 5)])
        let told = try example.merge(
            "nodes: [{ id: turned, component: PinXOffset, let: { offset: 7 } }]", at: "/board")
        #expect(told.values["/board.pins"] == [pin(0, 3), pin(10, 7)])
    }

    @Test("tags are found by their value and their type")
    func tags() throws {
        let example = try Example("tags")
        #expect(
            try example.watch("/picker.selected", "/picker.texts", "/picker.tags").values == [
                "/picker.selected": ["number"], "/picker.texts": ["1", "mon", "tue"],
                "/picker.tags": [1, "1", 7, .null, 9, "mon", "tue"],
            ])
        #expect(
            try example.watch("/picker.names").values["/picker.names"] == [
                .null, "1", .null, .null, "nine", "mon", "tue",
            ])
        #expect(try example.set("/picker.selection", "1").values == ["/picker.selected": ["text"]])
        #expect(try example.set("/picker.selection", "nine").values == ["/picker.selected": ["both"]])
        #expect(try example.set("/picker.selection", "tue").values == ["/picker.selected": ["days/tue"]])
        #expect(try example.set("/picker.selection", 8).values == ["/picker.selected": []])
        #expect(
            try example.set("/picker.edition", 8).values == [
                "/picker.selected": ["latest"], "/picker.tags": [1, "1", 8, .null, 9, "mon", "tue"],
            ])
    }

    @Test("the first section stands out; the others follow with header and footer, and move up when it goes")
    func magazineFirst() throws {
        let example = try Example("magazine-first")
        #expect(
            try example.shown(in: "/magazine/prominent") == ["/magazine/favorites/red", "/magazine/favorites/orange"])
        #expect(
            try example.shown(in: "/magazine/shelves/third") == [
                "/magazine/shelves/third/shelf", "/magazine/third/footer",
            ])
        try example.watch("/magazine/**", events: ["structure"])
        let told = try example.remove("/magazine/favorites")
        #expect(told.shown["/magazine/prominent"] == ["/magazine/second/green", "/magazine/second/yellow"])
        #expect(try example.shown(in: "/magazine/prominent") == ["/magazine/second/green", "/magazine/second/yellow"])
        try example.remove("/magazine/second")
        #expect(try example.remove("/magazine/third").shown["/magazine/prominent"] == [])
    }

    @Test("featured() around a section marks it as the key path does")
    func magazineFeatured() throws {
        let example = try Example("magazine-featured")
        let magazine = "/content/magazine"
        #expect(try example.get("\(magazine)/featured.elements") == ["marked/second"])
        #expect(try example.get("\(magazine)/others.elements") == ["favorites", "maybeMarked/third"])
        try example.set("/content.isThirdFeatured", true)
        #expect(try example.get("\(magazine)/featured.elements") == ["marked/second", "maybeMarked/third"])
        #expect(
            try example.shown(in: "\(magazine)/featured/\"maybeMarked/third\"") == [
                "\(magazine)/maybeMarked/third/blue", "\(magazine)/maybeMarked/third/purple",
            ])
    }

    @Test("marking another section featured moves its views to the top, with their states and in larger type")
    func magazine() throws {
        let example = try Example("magazine")
        let magazine = "/content/magazine"
        let red = "\(magazine)/favorites/red"
        #expect(try example.get("\(magazine).featuredViews") == ["second/green", "second/yellow"])
        // A featured section shows its content alone, the others their header and footer as well.
        #expect(
            try example.shown(in: "\(magazine)/featured/second") == [
                "\(magazine)/second/green", "\(magazine)/second/yellow",
            ])
        #expect(
            try example.shown(in: "\(magazine)/others/favorites") == [
                "\(magazine)/favorites/title", "\(magazine)/others/favorites/shelf",
            ])
        try example.set("\(red).taps", 3)
        #expect(try example.watch("\(red).*").values == ["\(red).taps": 3, "\(red).fontScale": 1.0])
        let told = try example.set("/content.chosen", "favorites")
        #expect(told.values == ["\(red).fontScale": 2.0])
        #expect(try example.get("\(magazine).featuredViews") == ["favorites/red", "favorites/orange"])
        #expect(try example.shown(in: "\(magazine)/featured/favorites") == [red, "\(magazine)/favorites/orange"])
        #expect(try example.get("\(red).taps") == 3)
        #expect(try example.set("/content.chosen", "none").values == ["\(red).fontScale": 1.0])
    }

    @Test("a card shows what it is given where its body says, with names from outside and type from inside")
    func card() throws {
        let example = try Example("card")
        let lamps = "/home/lamps"
        #expect(
            try example.watch("\(lamps)/name.*", "\(lamps)/body.count").values == [
                "\(lamps)/name.text": "Living room", "\(lamps)/name.fontScale": 1.5, "\(lamps)/body.count": 1,
            ])
        #expect(try example.get("\(lamps)/ceiling.fontScale") == 0.8)
        #expect(try example.shown(in: lamps) == ["\(lamps)/top", "\(lamps)/body"])
        #expect(try example.get("/home/empty/top/label.text") == "Untitled")
        #expect(try example.set("/home.isLong", true).values == ["\(lamps)/body.count": 2])
        #expect(try example.shown(in: "\(lamps)/body") == ["\(lamps)/ceiling", "\(lamps)/floor"])
    }
}
