import AttributeValues
import Testing

/// The examples of "Managing user interface state".
@Suite("SwiftUI: managing user interface state")
struct UserInterfaceStateTests {
    @Test("a state is read and written by its name, and what depends on it is updated")
    func playerState() throws {
        let example = try Example("player-state")
        #expect(
            try example.watch("/player/**").values == [
                "/player.isPlaying": false, "/player/image.isPlaying": false, "/player/image.systemName": "play.circle",
            ])
        let told = try example.toggle("/player.isPlaying")
        #expect(told.updates == 1)
        #expect(
            told.values == [
                "/player.isPlaying": true, "/player/image.isPlaying": true, "/player/image.systemName": "pause.circle",
            ])
        #expect(try example.set("/player.isPlaying", true).updates == 0)
    }

    @Test("a state lives as long as its view, and is out of reach for views beside it")
    func stateLifetime() throws {
        let example = try Example("player-state")
        try example.set("/player.isPlaying", true)
        try example.watch("/player/image.systemName")
        #expect(try example.remove("/player").values == ["/player/image.systemName": "error: removed"])
        try example.merge(Project.text("Examples/swiftui/player-state.yaml"))
        #expect(try example.get("/player.isPlaying") == false)
        let refusal = try example.client.refusal(
            "apply",
            [
                "document": "nodes: [{ id: other, computed: { symbol: isPlaying } }]"
            ])
        #expect(refusal["data"]?["code"] == "ruleType")
    }

    @Test("a let is a constant for the view and follows what the parent chooses; the view's own state stays")
    func playerLet() throws {
        let example = try Example("player-let")
        try example.set("/queue/player.isPlaying", true)
        #expect(
            try example.watch("/queue/player.isPlaying", "/queue/player/*.text").values == [
                "/queue/player.isPlaying": true, "/queue/player/title.text": "Some Episode",
                "/queue/player/showTitle.text": "Great Show",
            ])
        // The show is the same, so nothing is told of it; isPlaying is not touched by a new episode.
        let told = try example.set("/queue.selected", 1)
        #expect(told.updates == 1)
        #expect(told.values == ["/queue/player/title.text": "Another Episode"])
        #expect(try example.refusal(of: ["title": "Mine"], at: "/queue/player.episode") == "readOnly")
        #expect(try example.refusal(of: "Mine", at: "/queue/player/title.text") == "readOnly")
    }

    @Test("a write through the child's binding changes the parent's state, and a write to the state shows in the child")
    func playButton() throws {
        let example = try Example("play-button-binding")
        try example.watch("/**")
        let told = try example.toggle("/player/playButton.isPlaying")
        #expect(told.updates == 1)
        // The texts beside the button depend on the episode alone.
        #expect(
            told.values == [
                "/player.isPlaying": true, "/player/playButton.isPlaying": true,
                "/player/playButton.systemName": "pause.circle",
            ])
        #expect(
            try example.set("/player.isPlaying", false).values == [
                "/player.isPlaying": false, "/player/playButton.isPlaying": false,
                "/player/playButton.systemName": "play.circle",
            ])
    }

    @Test("a binding is handed down through any number of levels; all share the one state")
    func bindingLevels() throws {
        let example = try Example("binding-levels")
        try example.watch("/studio/**")
        #expect(
            try example.set("/studio/desk/channel/knob.value", -3.0).values == [
                "/studio.volume": -3.0, "/studio/desk.level": -3.0, "/studio/desk/channel.gain": -3.0,
                "/studio/desk/channel/knob.value": -3.0, "/studio/desk/channel/knob.label": "-3 dB",
            ])
        #expect(try example.set("/studio/desk.level", 1.5).values["/studio/desk/channel/knob.label"] == "1.5 dB")
        #expect(try example.refusal(of: "loud", at: "/studio/desk/channel/knob.value") == "typeMismatch")
    }

    @Test("a binding to a part of a state writes that part alone, and only who reads it is updated")
    func podcaster() throws {
        let example = try Example("podcaster")
        try example.watch("/podcaster/player/title.text")
        // The title's rule reads episode.title; that isFavorite changes is nothing to it.
        let runs = try example.runs()
        #expect(try example.toggle("/podcaster/favorite.isOn").updates == 0)
        #expect(try example.runs() == runs)
        try example.set("/podcaster.episode.isFavorite", false)
        try example.watch("/podcaster/favorite.isOn", "/podcaster.episode")
        #expect(
            try example.toggle("/podcaster/favorite.isOn").values == [
                "/podcaster/favorite.isOn": true,
                "/podcaster.episode": ["title": "Some Episode", "showTitle": "Great Show", "isFavorite": true],
            ])
        #expect(try example.get("/podcaster/player/showTitle.text") == "Great Show")
        try example.toggle("/podcaster/player/playButton.isPlaying")
        #expect(
            try example.set("/podcaster.episode.title", "Another").values["/podcaster/player/title.text"] == "Another")
        // Another input, the same player: its own state stays.
        #expect(try example.get("/podcaster/player.isPlaying") == true)
        #expect(try example.get("/podcaster/player/playButton.systemName") == "pause.circle")
    }

    @Test("a change with an animation moves all that can move, at any level of the hierarchy; texts jump")
    func animatedTransition() throws {
        let example = try Example("animated-transition")
        try example.watch("/player/**")
        let told = try example.toggle("/player/playButton.isPlaying", animation: "easeInOut(duration: 60)")
        #expect(told.values["/player/playButton.systemName"] == "pause.circle")
        #expect(told.values["/player/playButton.scaleEffect"] == 1.0)
        #expect(Set(told.timelines.keys) == ["/player/playButton.scaleEffect", "/player.background"])
        let scale = try #require(told.timelines["/player/playButton.scaleEffect"])
        #expect(scale["from"]?.number == 1.5 && scale["to"]?.number == 1.0)
        #expect(scale["curve"]?["timingCurve"]?["duration"]?.number == 60)
        #expect(told.timelines["/player.background"]?["curve"] == scale["curve"])
        // The model is there at once; what is displayed is on its way.
        #expect(try example.get("/player/playButton.scaleEffect") == 1.0)
        let displayed = try #require(try example.displayed("/player/playButton.scaleEffect")?.number)
        #expect(displayed > 1.0 && displayed <= 1.5)
        #expect(try example.displayed("/player/playButton.systemName") == "pause.circle")
    }

    @Test("without an animation all views are updated right away; an animation without numbers has reasonable ones")
    func defaultAnimation() throws {
        let example = try Example("animated-transition")
        try example.watch("/player/**")
        let plain = try example.toggle("/player.isPlaying")
        #expect(plain.timelines.isEmpty)
        #expect(try example.displayed("/player/playButton.scaleEffect") == 1.0)
        let eased = try example.toggle("/player.isPlaying", animation: "easeInOut")
        #expect(
            eased.timelines["/player/playButton.scaleEffect"]?["curve"]?["timingCurve"]?["duration"]?.number == 0.35)
        try example.toggle("/player.isPlaying")
        let animated = try example.toggle("/player.isPlaying", animation: "default")
        #expect(animated.timelines["/player/playButton.scaleEffect"]?["curve"]?["spring"] != nil)
        #expect(animated.values["/player/playButton.scaleEffect"] == 1.5)
    }

    @Test("animation(_:value:) moves its own view alone; a binding's animation moves all that its write changes")
    func animationModifier() throws {
        let example = try Example("animation-modifier")
        try example.watch("/player/**")
        let plain = try example.toggle("/player.isPlaying")
        #expect(Set(plain.timelines.keys) == ["/player/image.scaleEffect"])
        #expect(plain.timelines["/player/image.scaleEffect"]?["curve"]?["timingCurve"]?["duration"]?.number == 1)
        #expect(plain.values["/player/badge.opacity"] == 1.0)

        let bound = try example.toggle("/player/switch.isOn")
        #expect(Set(bound.timelines.keys) == ["/player/image.scaleEffect", "/player/badge.opacity"])
        #expect(bound.timelines["/player/badge.opacity"]?["curve"]?["spring"] != nil)
        // The nearest wins: the image keeps its own.
        #expect(bound.timelines["/player/image.scaleEffect"]?["curve"]?["timingCurve"] != nil)
    }

    @Test("$book.title writes a property of the object; who reads another property is neither run nor told")
    func bindable() throws {
        let example = try Example("bindable")
        #expect(try example.watch("/shelf/spine.text").values == ["/shelf/spine.text": "Sample Book"])
        let runs = try example.runs()
        #expect(try example.toggle("/shelf/editor/available.isOn").updates == 0)
        #expect(try example.runs() == runs)
        try example.watch("/shelf/editor/*.*")
        let renamed = try example.set("/shelf/editor/title.text", "Another Book")
        #expect(renamed.values == ["/shelf/spine.text": "Another Book", "/shelf/editor/title.text": "Another Book"])
        #expect(try example.get("/shelf.book") == ["title": "Another Book", "isAvailable": false])
    }

    @Test("a change calls what stands under onChange, views that come and go call theirs, all in the same transaction")
    func onChange() throws {
        let example = try Example("on-change")
        try example.watch("/player.log", "/player.plays")
        #expect(try example.get("/player.log") == ["background to active"])
        let told = try example.toggle("/player.isPlaying")
        #expect(told.updates == 1)
        #expect(told.values == ["/player.plays": 1, "/player.log": ["background to active", "plays"]])
        #expect(try example.set("/player.queue", ["Intro", "News"]).updates == 1)
        #expect(try example.set("/player.queue", ["News", "Sports"]).updates == 1)
        #expect(
            try example.get("/player.log") == [
                "background to active", "plays", "+ Intro", "+ News", "- Intro", "+ Sports",
            ])
        let why = try example.client.call("explain", ["path": "/player.plays"])
        #expect(why["changed"]?["action"] == "/player.onChange")
    }

    @Test("a binding computes what it reads and writes, and leads to what a rule chooses") func bindingGetSet() throws {
        let example = try Example("binding-get-set")
        try example.watch("/library/*.*", "/library/favorites/*.title", "/library.volume")
        #expect(
            try example.set("/library/slider.percent", 80.0).values == [
                "/library.volume": 0.8, "/library/slider.percent": 80.0,
            ])
        try example.set("/library/stepper.value", 90)
        #expect(try example.get("/library.limit") == 90)
        #expect(try example.set("/library.onlyKids", true).values == ["/library/stepper.value": 10])
        try example.set("/library/stepper.value", 11)
        #expect(try example.get("/library.kidsLimit") == 11)
        #expect(
            try example.set("/library/favorites/b.title", "Bee").values == [
                "/library/favorites/b.title": "Bee", "/library/editor.title": "Bee",
            ])
        #expect(try example.set("/library.selected", "a").values == ["/library/editor.title": "Alpha"])
        try example.set("/library/editor.title", "Ah")
        #expect(try example.get("/library.books[0].title") == "Ah")
        #expect(try example.refusal(of: "loud", at: "/library/slider.percent") == "typeMismatch")
    }

    @Test("an editor begins with what it is given, keeps a draft, and saves it") func initialValue() throws {
        let example = try Example("initial-value")
        let editor = "/playlist/editors/a"
        try example.watch("\(editor).*")
        #expect(try example.get("\(editor).draft") == "Alpha")
        #expect(try example.get("\(editor).isEdited") == false)
        #expect(
            try example.set("\(editor).draft", "Ah").values == ["\(editor).draft": "Ah", "\(editor).isEdited": true])
        let others = try example.set("/playlist.episodes[id=\"a\"].title", "Other").values
        #expect(others["\(editor).title"] == "Other" && others["\(editor).draft"] == nil)
        _ = try example.client.call("do", ["path": .string("\(editor).save")])
        #expect(try example.get("/playlist.episodes[0].title") == "Ah")
        #expect(try example.get("\(editor).isEdited") == false)
        try example.set("/playlist.episodes", [["id": "c", "title": "Gamma"], ["id": "a", "title": "Ah"]])
        #expect(try example.get("/playlist/editors/c.draft") == "Gamma")
        #expect(try example.get("\(editor).draft") == "Ah")
    }
}
