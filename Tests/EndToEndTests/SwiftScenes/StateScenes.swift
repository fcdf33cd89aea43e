import AGScenes

// The examples of "Managing user interface state" in Swift.

extension SwiftScenes {
    /// The page's first.
    static func introduction() throws -> Scene {
        let scene = try Scene {
            Component("PlayButton") {
                Binding("isPlaying")
                Computed("symbol", #"isPlaying ? "pause.circle" : "play.circle""#)
            }
            Container("player") {
                State("isPlaying", false)
                Instance("playButton", of: "PlayButton") { Binding("isPlaying", to: \.isPlaying) }
            }
            .environment(\.locale, "en_GB")
        }
        return scene
    }

    static func playerState() throws -> Scene {
        try Scene {
            Container("player") {
                State("isPlaying", false)
                View("image") {
                    Let("isPlaying", .rule("isPlaying"))
                    Computed("systemName", #"isPlaying ? "pause.circle" : "play.circle""#)
                }
            }
        }
    }

    static func playerLet() throws -> Scene {
        try Scene {
            Component("PlayerView") {
                Let("episode")
                State("isPlaying", false)
                View("title") { Let("text", .rule("episode.title")) }
                View("showTitle") { Let("text", .rule("episode.showTitle")) }
                View("image") { Let("systemName", .rule(#"isPlaying ? "pause.circle" : "play.circle""#)) }
            }
            Container("queue") {
                State("selected", 0)
                State(
                    "episodes",
                    [
                        ["title": "Some Episode", "showTitle": "Great Show"],
                        ["title": "Another Episode", "showTitle": "Great Show"],
                    ])
                // The parent selects another episode, the player gets it as its new input.
                Instance("player", of: "PlayerView") { Let("episode", .rule("episodes[selected]")) }
            }
        }
    }

    static func playButtonBinding() throws -> Scene {
        try Scene {
            Component("PlayButton") {
                Binding("isPlaying")
                Computed("systemName", #"isPlaying ? "pause.circle" : "play.circle""#)
            }
            Component("PlayerView") {
                Let("episode")
                State("isPlaying", false)
                View("title") { Let("text", .rule("episode.title")) }
                View("showTitle") { Let("text", .rule("episode.showTitle")) }
                Instance("playButton", of: "PlayButton") { Binding("isPlaying", to: \.isPlaying) }
            }
            Instance("player", of: "PlayerView") {
                Let("episode", ["title": "Some Episode", "showTitle": "Great Show"])
            }
        }
    }

    static func bindingLevels() throws -> Scene {
        try Scene {
            Component("Knob") {
                Binding("value")
                Computed("label", #"string(value) + " dB""#)
            }
            Component("Channel") {
                Binding("gain")
                Instance("knob", of: "Knob") { Binding("value", to: \.gain) }
            }
            Component("Desk") {
                Binding("level")
                Instance("channel", of: "Channel") { Binding("gain", to: \.level) }
            }
            Container("studio") {
                State("volume", -6.0)
                Instance("desk", of: "Desk") { Binding("level", to: \.volume) }
            }
        }
    }

    static func podcaster() throws -> Scene {
        try Scene {
            Component("Toggle") {
                Let("label", type: "string")
                Binding("isOn", type: "bool")
            }
            Component("PlayButton") {
                Binding("isPlaying", type: "bool")
                Computed("systemName", #"isPlaying ? "pause.circle" : "play.circle""#)
            }
            Component("PlayerView") {
                Let("episode")
                State("isPlaying", false)
                View("title") { Let("text", .rule("episode.title")) }
                View("showTitle") { Let("text", .rule("episode.showTitle")) }
                Instance("playButton", of: "PlayButton") { Binding("isPlaying", to: \.isPlaying) }
            }
            Container("podcaster") {
                State("episode", ["title": "Some Episode", "showTitle": "Great Show", "isFavorite": false])
                Instance("favorite", of: "Toggle") {
                    Let("label", "Favorite")
                    Binding("isOn", to: \.episode.isFavorite)
                }
                Instance("player", of: "PlayerView") { Let("episode", \.episode) }
            }
        }
    }

    static func animatedTransition() throws -> Scene {
        try Scene {
            Component("PlayButton") {
                Binding("isPlaying", type: "bool")
                Computed("systemName", #"isPlaying ? "pause.circle" : "play.circle""#)
                Computed("scaleEffect", "isPlaying ? 1.0 : 1.5")
            }
            Container("player") {
                Let("episode", ["title": "Some Episode", "showTitle": "Great Show"])
                State("isPlaying", false)
                // A level above the button, and yet it moves with it.
                Computed("background", #"isPlaying ? "green" : "red""#, type: "color")
                View("title") { Let("text", .rule("episode.title")) }
                View("showTitle") { Let("text", .rule("episode.showTitle")) }
                Instance("playButton", of: "PlayButton") { Binding("isPlaying", to: \.isPlaying) }
            }
        }
    }

    static func animationModifier() throws -> Scene {
        try Scene {
            Container("player") {
                State("isPlaying", false)
                View("image") {
                    Let("isPlaying", .rule("isPlaying"))
                    Computed("scaleEffect", "isPlaying ? 1.0 : 1.5")
                }
                .animation("easeInOut(duration: 1)", value: .rule("isPlaying"))
                View("badge") {
                    Let("isPlaying", .rule("isPlaying"))
                    Computed("opacity", "isPlaying ? 1.0 : 0.25")
                }
                // Writes through this one bring their own animation.
                View("switch") { Binding("isOn", to: \.isPlaying, animation: "bouncy") }
            }
        }
    }

    static func bindable() throws -> Scene {
        try Scene {
            ObjectType("Book") {
                State("title", "Sample Book")
                State("isAvailable", true)
            }
            Component("BookEditor") {
                Let("book", type: "Book")
                View("title") { Binding("text", to: \.book.title) }
                View("available") { Binding("isOn", to: \.book.isAvailable) }
            }
            Container("shelf") {
                State("book", type: "Book")
                View("spine") {
                    Let("book", \.book)
                    Computed("text", "book.title")
                }
                Instance("editor", of: "BookEditor") { Let("book", \.book) }
            }
        }
    }

    static func onChange() throws -> Scene {
        try Scene {
            Container("player") {
                State("isPlaying", false)
                State("plays", 0)
                State("queue", [], type: "list(string)")
                State("log", [], type: "list(string)")
                ForEach("rows", in: \.queue, id: \.self, as: "title") {
                    View()
                        .onAppear(.append(.rule("\"+ \" + title"), to: \.log))
                        .onDisappear(.append(.rule("\"- \" + title"), to: \.log))
                }
            }
            .onChange(
                of: \.isPlaying,
                .set(\.plays, to: .rule("newValue ? plays + 1 : plays")),
                .append(.rule("newValue ? \"plays\" : \"pauses\""), to: \.log)
            )
            .onChange(
                of: .rule("env.scenePhase"), .append(.rule("oldValue + \" to \" + newValue"), to: \.log))
        }
    }

    static func bindingGetSet() throws -> Scene {
        try Scene {
            Container("library") {
                State("volume", 0.25)
                State("onlyKids", false)
                State("kidsLimit", 10)
                State("limit", 100)
                State("selected", "b")
                State(
                    "books",
                    [
                        ["id": "a", "title": "Alpha", "isFavorite": false],
                        ["id": "b", "title": "Beta", "isFavorite": true],
                    ])
                View("slider") {
                    Binding("percent", get: "volume * 100.0", set: [\.volume: .rule("newValue / 100.0")])
                }
                View("stepper") { Binding("value", choosing: "onlyKids ? $kidsLimit : $limit") }
                View("editor") { Binding("title", choosing: "$books[id=selected].title") }
                ForEach("favorites", in: .rule("books.filter(b, b.isFavorite)"), as: "book") {
                    View { Binding("title", choosing: "$books[id=book.id].title") }
                }
            }
        }
    }

    static func initialValue() throws -> Scene {
        try Scene {
            Component("TitleEditor") {
                Binding("title", type: "string", default: "")
                State("draft", startingWith: .rule("title"), type: "string")
                Computed("isEdited", "draft != title")
                Action("save", .set(\.title, to: .rule("draft")))
                Action("revert", .set(\.draft, to: .rule("title")))
            }
            Container("playlist") {
                State("episodes", [["id": "a", "title": "Alpha"], ["id": "b", "title": "Beta"]])
                ForEach("editors", in: \.episodes, as: "episode") {
                    Instance(of: "TitleEditor") { Binding("title", to: \.episode.title) }
                }
            }
        }
    }
}
