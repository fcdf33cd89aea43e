import AttributeValues
import Testing

/// The examples of "ContainerValueKey", "ContainerValues" and "Mastering container views".
@Suite("SwiftUI: container values")
struct SwiftUIContainerTests {
    @Test("a container shows each subview with the value that it is marked with, or the default")
    func containerValueKey() throws {
        let example = try Example("container-value-key")
        func row(_ subview: Value, _ text: Value) -> Value { ["subview": subview, "text": text] }
        #expect(
            try example.watch("/myContainer.rows").values["/myContainer.rows"]
                == [row("a", "Hello"), row("b", "World"), row("c", "Default value")])
        let told = try example.merge(
            """
            nodes:
              - id: myContainer
                component: MyContainer
                children: [{ id: d, component: Text, let: { string: D }, containerValues: { myCustomValue: New } }]
            """)
        #expect(told.updates == 1)
        #expect(
            told.values["/myContainer.rows"]
                == [row("a", "Hello"), row("b", "World"), row("c", "Default value"), row("d", "New")])
        let removed = try example.remove("/myContainer/a")
        #expect(removed.values["/myContainer.rows"]?.list?.first == row("b", "World"))
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
        #expect(
            try example.watch("/group/texts/*.string").values == [
                "/group/texts/a.string": "Hello", "/group/texts/b.string": "World",
            ])
        try example.watch("/group/texts/**", events: ["structure"])
        let told = try example.set("/group/content.a", "Hi")
        #expect(told.values == ["/group/texts/a.string": "Hi"])
        #expect(told.added.isEmpty && told.removed.isEmpty)
        let grown = try example.merge(
            "nodes: [{ id: c, component: Text, let: { string: C }, containerValues: { myCustomValue: '!' } }]",
            at: "/group/content")
        #expect(grown.added.contains("/group/texts/c"))
        #expect(try example.get("/group/texts/c.string") == "!")
        #expect(try example.remove("/group/content/b").removed.contains("/group/texts/b"))
        #expect(try example.get("/group/texts/a.string") == "Hi")
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
                "/picker.selected": ["number"], "/picker.texts": ["1"], "/picker.tags": [1, "1", 7, .null],
            ])
        #expect(try example.set("/picker.selection", "1").values == ["/picker.selected": ["text"]])
        #expect(try example.set("/picker.selection", 8).values == ["/picker.selected": []])
        #expect(
            try example.set("/picker.edition", 8).values == [
                "/picker.selected": ["latest"], "/picker.tags": [1, "1", 8, .null],
            ])
    }

    @Test("the first section stands out; the others follow with header and footer, and move up when it goes")
    func magazineFirst() throws {
        let example = try Example("magazine-first")
        #expect(
            try example.watch("/magazine.prominent", "/magazine.shelves").values == [
                "/magazine.prominent": ["favorites/red", "favorites/orange"],
                "/magazine.shelves": [
                    ["second/green", "second/yellow"], ["third/blue", "third/purple", "third/footer"],
                ],
            ])
        let told = try example.remove("/magazine/favorites")
        #expect(told.updates == 1)
        #expect(
            told.values == [
                "/magazine.prominent": ["second/green", "second/yellow"],
                "/magazine.shelves": [["third/blue", "third/purple", "third/footer"]],
            ])
        try example.remove("/magazine/second")
        #expect(try example.remove("/magazine/third").values == ["/magazine.prominent": []])
    }

    @Test("featured() around a section marks it as the key path does")
    func magazineFeatured() throws {
        let example = try Example("magazine-featured")
        let magazine = "/content/magazine"
        #expect(
            try example.watch("\(magazine).featured", "\(magazine).notFeatured").values == [
                "\(magazine).featured": ["marked/second"],
                "\(magazine).notFeatured": ["favorites", "maybeMarked/third"],
            ])
        #expect(
            try example.set("/content.isThirdFeatured", true).values == [
                "\(magazine).featured": ["marked/second", "maybeMarked/third"],
                "\(magazine).notFeatured": ["favorites"],
            ])
    }

    @Test("marking another section featured moves it to the top; every subview in it reads as featured")
    func magazine() throws {
        let example = try Example("magazine")
        let magazine = "/content/magazine"
        func order() throws -> Value? { try example.get("/content/page.elements") }
        #expect(try order() == ["second", "favorites", "third"])
        #expect(try example.get("\(magazine).featuredViews") == ["second/green", "second/yellow"])
        // A featured section shows its content alone, the others their header and footer as well.
        #expect(
            try example.watch("/content/page/*.views").values == [
                "/content/page/second.views": ["second/green", "second/yellow"],
                "/content/page/favorites.views": ["favorites/title", "favorites/red", "favorites/orange"],
                "/content/page/third.views": ["third/blue", "third/purple", "third/footer"],
            ])
        try example.watch("/content/page/**", events: ["structure"])
        let told = try example.set("/content.chosen", "third")
        #expect(try order() == ["third", "favorites", "second"])
        #expect(try example.get("\(magazine).featuredViews") == ["third/blue", "third/purple"])
        // The second section has neither header nor footer, so it looks the same in its new place.
        #expect(told.values == ["/content/page/third.views": ["third/blue", "third/purple"]])
        // They moved: none was made anew.
        #expect(told.added.isEmpty && told.removed.isEmpty)
        #expect(told.moved.contains { $0.hasPrefix("/content/page/") })
        #expect(
            try example.set("/content.chosen", "none").values == [
                "/content/page/third.views": ["third/blue", "third/purple", "third/footer"]
            ])
        #expect(try order() == ["favorites", "second", "third"])
    }
}
