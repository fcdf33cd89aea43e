import AttributeValues
import Testing

/// The examples of "Environment", "EnvironmentValues", "EnvironmentKey" and of the modifiers that set them.
@Suite("SwiftUI: environment")
struct SwiftUIEnvironmentTests {
    @Test("a view that reads the color scheme is updated when it changes, unless something nearer decides for it")
    func colorScheme() throws {
        let example = try Example("color-scheme")
        #expect(
            try example.watch("/content.*", "/darkened/**").values == [
                "/content.colorScheme": "light", "/content.shown": "LightContent",
                "/darkened/content.colorScheme": "dark", "/darkened/content.shown": "DarkContent",
            ])
        #expect(
            try example.set("/.colorScheme", "dark").values == [
                "/content.colorScheme": "dark", "/content.shown": "DarkContent",
            ])
        // Read, but not set.
        #expect(try example.refusal(of: "light", at: "/content.colorScheme") == "readOnly")
    }

    @Test("if and else: the color scheme decides which view is there, and one that comes back begins anew")
    func colorSchemeContent() throws {
        let example = try Example("color-scheme-content")
        let branch = "/window/content"
        try example.set("\(branch)/lightContent.taps", 3)
        try example.watch("\(branch)/**", events: ["structure"])
        let dark = try example.set("/window.appearance", "dark")
        #expect(dark.removed.contains("\(branch)/lightContent") && dark.added.contains("\(branch)/darkContent"))
        #expect(try example.get("\(branch)/darkContent.name") == "darkContent")
        #expect(
            try example.client.refusal("get", ["path": .string("\(branch)/lightContent.taps")])["data"]?["code"]
                == "notFound")
        let light = try example.set("/window.appearance", "light")
        #expect(light.removed.contains("\(branch)/darkContent") && light.added.contains("\(branch)/lightContent"))
        #expect(try example.get("\(branch)/lightContent.taps") == 0)
    }

    @Test("an object in the environment is found by its type, and its readers depend on single properties")
    func libraryObject() throws {
        let example = try Example("library-object")
        #expect(try example.watch("/app/view.text").values == ["/app/view.text": "2 available"])
        #expect(try example.get("/app.library.books[1]") == ["title": "Sample Book", "isAvailable": true])
        #expect(try example.set("/app.library.books[2].isAvailable", true).values == ["/app/view.text": "3 available"])
        // Through a binding to a property, as Bindable makes it.
        #expect(
            try example.set("/app/editor/list.books[0].isAvailable", false).values == ["/app/view.text": "2 available"])
        // The books changed, their number that are available did not.
        #expect(try example.set("/app/editor/list.books[0].title", "Zero").updates == 0)
        #expect(try example.get("/app.library.books[0].title") == "Zero")
    }

    @Test("without an object Library? reads null, and Library is an error with the type and the path")
    func libraryOptional() throws {
        let example = try Example("library-optional")
        #expect(
            try example.watch("/**/optional.hasLibrary", "/**/required.count").values == [
                "/optional.hasLibrary": false, "/required.count": "error: notFound",
                "/app/optional.hasLibrary": true, "/app/required.count": 2,
            ])
        let message = try #require(try example.error(of: "/required.library")?["message"]?.string)
        #expect(message.contains("Library") && message.contains("/required"))
        #expect(try example.set("/app.library.books", ["One"]).values == ["/app/required.count": 1])
        // One that comes into reach heals the error.
        try example.remove("/app/required")
        _ = try example.told("move", ["path": "/required", "to": "/app"])
        #expect(try example.get("/app/required.count") == 1)
    }

    @Test("an object under a key path has a default where nobody provides it")
    func libraryKeyPath() throws {
        let example = try Example("library-key-path")
        #expect(
            try example.watch("/outside.count", "/app/view.count").values == [
                "/outside.count": 0, "/app/view.count": 1,
            ])
        #expect(try example.set("/app.library.books[1].isAvailable", true).values == ["/app/view.count": 2])
    }

    @Test("a system value that changes updates its readers and nobody else")
    func locale() throws {
        let example = try Example("locale")
        #expect(
            try example.watch("/greeting.*", "/hairline.*").values == [
                "/greeting.locale": "en_US", "/greeting.text": "Hello", "/hairline.width": 1.0,
            ])
        #expect(
            try example.set("/.locale", "de_DE").values == ["/greeting.locale": "de_DE", "/greeting.text": "Hallo"])
        #expect(try example.set("/.locale", "de_AT").values == ["/greeting.locale": "de_AT"])
        #expect(try example.set("/.pixelLength", 0.5).values == ["/hairline.width": 0.5])
    }

    @Test("the system keeps the scene's phase: active while somebody watches")
    func scenePhase() throws {
        let example = try Example("locale")
        #expect(try example.get("/.scenePhase") == "background")
        let subscribed = try example.client.call("subscribe", ["paths": ["/greeting.text"]])
        #expect(try example.client.event()["initial"] == true)
        #expect(try example.get("/.scenePhase") == "active")
        try example.client.call("unsubscribe", ["subscription": subscribed["subscription"] ?? .null])
        #expect(try example.get("/.scenePhase") == "background")
        #expect(try example.watch("/.scenePhase").values == ["/.scenePhase": "active"])
    }

    @Test("reduced motion stops every animation")
    func reduceMotion() throws {
        let example = try Example("animation-modifier")
        try example.watch("/player/**")
        try example.set("/.reduceMotion", true)
        let still = try example.toggle("/player.isPlaying", animation: "bouncy")
        #expect(still.timelines.isEmpty && still.values["/player/image.scaleEffect"] == 1.0)
        try example.set("/.reduceMotion", false)
        #expect(try !example.toggle("/player.isPlaying", animation: "bouncy").timelines.isEmpty)
    }

    @Test("environment(_:_:) holds for the view and all below it until the next override")
    func lineLimit() throws {
        let example = try Example("line-limit")
        #expect(
            try example.watch("/**.lineLimit").values == [
                "/free.lineLimit": .null, "/limited/text.lineLimit": 2, "/limited/inner/text.lineLimit": 1,
            ])
        let told = try example.merge("nodes: [{ id: limited, environment: { lineLimit: 3 } }]")
        #expect(told.values == ["/limited/text.lineLimit": 3])
    }

    @Test("a dedicated modifier does what the key path does")
    func lineLimitModifier() throws {
        let example = try Example("line-limit-modifier")
        #expect(
            try example.watch("/page/**.lineLimit").values == [
                "/page/limited/myView.lineLimit": 2, "/page/myView.lineLimit": 2, "/page/free.lineLimit": .null,
            ])
        #expect(
            try example.set("/page.lines", 4).values == [
                "/page/limited/myView.lineLimit": 4, "/page/myView.lineLimit": 4,
            ])
    }

    @Test("preferredColorScheme reaches the presentation around it, and nothing beyond; with the content it goes")
    func preferredColorScheme() throws {
        let example = try Example("preferred-color-scheme")
        let popover = "/myView/popover"
        #expect(
            try example.watch("/**.colorScheme").values == [
                "/.colorScheme": "light", "/myView.colorScheme": "light",
                "\(popover)/content.colorScheme": "dark",
                "\(popover)/frame.colorScheme": "dark",
            ])
        try example.watch("/**", events: ["structure"])
        let dismissed = try example.set("\(popover).isPresented", false)
        #expect(try example.get("/myView.isPopped") == false)
        #expect(dismissed.removed.contains("\(popover)/content"))
        #expect(dismissed.values["\(popover)/frame.colorScheme"] == "light")
        #expect(dismissed.values["/myView.colorScheme"] == nil)
        let presented = try example.set("/myView.isPopped", true)
        #expect(presented.added.contains("\(popover)/content"))
        #expect(presented.values["\(popover)/frame.colorScheme"] == "dark")
    }

    @Test("a key of one's own has its default where nobody sets it")
    func customKey() throws {
        let example = try Example("custom-environment-key")
        #expect(
            try example.watch("/*.text").values == ["/plain.text": "Default value", "/modified.text": "Another string"])
        let told = try example.merge("nodes: [{ id: modified, environment: { myCustomValue: A third } }]")
        #expect(told.values == ["/modified.text": "A third"])
        #expect(
            try example.client.refusal(
                "apply",
                [
                    "document": "nodes: [{ id: x, environment: { myCustomValu: 1 } }]"
                ])["data"]?["hint"]?.string?.contains("myCustomValue") == true)
    }

    @Test("a modifier of one's own for a key of one's own does what the key path does")
    func customModifier() throws {
        let example = try Example("custom-environment-modifier")
        #expect(
            try example.watch("/**.text").values == [
                "/modified/myView.text": "Another string", "/myView.text": "Another string",
            ])
        let told = try example.merge("nodes: [{ id: modified, component: MyCustomValue, let: { value: A third } }]")
        #expect(told.values == ["/modified/myView.text": "A third"])
    }

    @Test("a value set by its key path affects the view and its descendants, and nothing outside")
    func truncationMode() throws {
        let example = try Example("truncation-mode")
        #expect(
            try example.watch("/**.truncationMode").values == [
                "/outer/myView.truncationMode": "head", "/myView.truncationMode": "tail",
            ])
        let told = try example.merge("nodes: [{ id: outer, environment: { truncationMode: middle } }]")
        #expect(told.values == ["/outer/myView.truncationMode": "middle"])
    }

    @Test("the nearer of two modifiers wins")
    func truncationModeModifier() throws {
        let example = try Example("truncation-mode-modifier")
        #expect(
            try example.watch("/**.truncationMode").values == [
                "/shortened/myView.truncationMode": "head", "/shortened/inner/myView.truncationMode": "middle",
            ])
        let told = try example.merge("nodes: [{ id: shortened, component: TruncationMode, let: { mode: tail } }]")
        #expect(told.values == ["/shortened/myView.truncationMode": "tail"])
    }

    @Test("there is one object of a type for a subtree, and the nearest wins")
    func profile() throws {
        let example = try Example("profile")
        #expect(
            try example.watch("/**.greeting").values == [
                "/stranger.greeting": "Who are you?", "/root/content.greeting": "Hello Ada",
                "/root/guestArea/content.greeting": "Hello Guest",
            ])
        #expect(
            try example.set("/root.currentProfile.name", "Grace").values == ["/root/content.greeting": "Hello Grace"])
        #expect(
            try example.set("/root/guestArea.guest.name", "Visitor").values == [
                "/root/guestArea/content.greeting": "Hello Visitor"
            ])
        // An object as a whole is replaced by its properties.
        #expect(
            try example.set("/root.currentProfile", ["name": "Hedy"]).values == ["/root/content.greeting": "Hello Hedy"]
        )
        // Another one in its place, and the scene's own again: replace ends what clients have said.
        let other = "state: { other: { type: Profile, initial: { name: Joan } } }, environment: { objects: [$other] }"
        #expect(try example.merge("nodes: [{ id: root, \(other) }]").values == ["/root/content.greeting": "Hello Joan"])
        let text = try Project.text("Examples/swiftui/profile.yaml")
        let without = text.replacing("    environment: { objects: [$currentProfile] }\n", with: "")
        let removed = try example.told("apply", ["document": .string(without), "mode": "replace"])
        #expect(removed.values == ["/root/content.greeting": "Hello Hedy"])
    }

    @Test("transformEnvironment derives from the inherited value; overriding a part of a group leaves the rest")
    func transformEnvironment() throws {
        let example = try Example("transform-environment")
        #expect(
            try example.watch("/page/**.fontScale", "/page/**.padding").values == [
                "/page/body.fontScale": 1.0, "/page/headline/text.fontScale": 1.5,
                "/page/headline/emphasized.fontScale": 3.0,
                "/page/body.padding": ["leading": 16, "trailing": 8],
                "/page/headline/text.padding": ["leading": 16, "trailing": 8],
                "/page/headline/emphasized.padding": ["leading": 16, "trailing": 8],
            ])
        let told = try example.merge("nodes: [{ id: page, environment: { fontScale: 2.0 } }]")
        #expect(
            told.values == [
                "/page/body.fontScale": 2.0, "/page/headline/text.fontScale": 3.0,
                "/page/headline/emphasized.fontScale": 6.0,
            ])
    }

    @Test("an object may be null and come back; a rule chooses which one is handed down") func profileOptional() throws
    {
        let example = try Example("profile-optional")
        #expect(
            try example.watch("/**.text").values == [
                "/app/greeting.text": "Who are you?", "/desk/area/greeting.text": "Hello Ada",
                "/desk/area/name.text": "Ada",
            ])
        #expect(try example.set("/app.profile", ["name": "Bo"]).values == ["/app/greeting.text": "Hello Bo"])
        #expect(try example.set("/app/greeting.profile.name", "Cy").values == ["/app/greeting.text": "Hello Cy"])
        #expect(try example.set("/app.profile", .null).values == ["/app/greeting.text": "Who are you?"])
        #expect(
            try example.set("/desk.isGuest", true).values == [
                "/desk/area/greeting.text": "Hello Guest", "/desk/area/name.text": "Guest",
            ])
        #expect(
            try example.set("/desk/area/name.text", "Visitor").values == [
                "/desk/area/greeting.text": "Hello Visitor", "/desk/area/name.text": "Visitor",
            ])
        #expect(try example.get("/desk.guest.name") == "Visitor")
    }
}
