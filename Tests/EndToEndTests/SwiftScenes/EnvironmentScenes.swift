import AGScenes

// The examples of "Environment", "EnvironmentValues", "EnvironmentKey" and their modifiers in Swift.

extension SwiftScenes {
    static func colorScheme() throws -> Scene {
        let shown = #"colorScheme == "dark" ? "DarkContent" : "LightContent""#
        return try Scene {
            View("content") {
                Environment(\.colorScheme)
                Computed("shown", shown)
            }
            Container("darkened") {
                View("content") {
                    Environment(\.colorScheme)
                    Computed("shown", shown)
                }
            }
            .environment(\.colorScheme, "dark")
        }
    }

    static func colorSchemeContent() throws -> Scene {
        try Scene {
            Component("Content") {
                Let("name")
                State("taps", 0)
            }
            Container("window") {
                State("appearance", "light")
                Container("content") {
                    Environment(\.colorScheme)
                    If(#"colorScheme == "dark""#) {
                        Instance("darkContent", of: "Content") { Let("name", "darkContent") }
                    } else: {
                        Instance("lightContent", of: "Content") { Let("name", "lightContent") }
                    }
                }
            }
            .environment(\.colorScheme, \.appearance)
        }
    }

    static func libraryObject() throws -> Scene {
        try Scene {
            ObjectType("Book") {
                State("title", "Sample Book")
                State("isAvailable", true)
            }
            ObjectType("Library") {
                // [Book(), Book(), Book()], the last of which is lent out.
                State("books", [["title": "One"], [:], ["isAvailable": false]], type: "list(Book)")
                Computed("availableBooksCount", "books.filter(b, b.isAvailable).size()")
            }
            Component("LibraryView") {
                Environment("library", object: "Library")
                Computed("text", #"string(library.availableBooksCount) + " available""#)
            }
            Container("app") {
                State("library", type: "Library")
                Instance("view", of: "LibraryView")
                Container("editor") {
                    Environment("library", object: "Library")
                    // A binding to a property of an object, as @Bindable makes it.
                    View("list") { Binding("books", to: \.library.books) }
                }
            }
            .environment(object: \.library)
        }
    }

    static func libraryOptional() throws -> Scene {
        let optional = View("optional") {
            Environment("library", object: "Library?")
            Computed("hasLibrary", "library != null")
        }
        let required = View("required") {
            Environment("library", object: "Library")
            Computed("count", "size(library.books)")
        }
        return try Scene {
            ObjectType("Library") { State("books", []) }
            optional
            required
            Container("app") {
                State("library", ["books": ["One", "Two"]], type: "Library")
                optional
                required
            }
            .environment(object: \.library)
        }
    }

    static func libraryKeyPath() throws -> Scene {
        try Scene {
            ObjectType("Library") {
                State("books", [["title": "One", "isAvailable": true], ["title": "Two", "isAvailable": false]])
                Computed("availableBooksCount", "books.filter(b, b.isAvailable).size()")
            }
            EnvironmentKey("library", type: "Library?")
            Component("LibraryView") {
                Environment(\.library)
                Computed("count", "library == null ? 0 : library.availableBooksCount")
            }
            Instance("outside", of: "LibraryView")
            Container("app") {
                State("library", type: "Library")
                Instance("view", of: "LibraryView")
            }
            .environment(\.library, \.library)
        }
    }

    static func locale() throws -> Scene {
        try Scene {
            View("greeting") {
                Environment(\.locale)
                Computed("text", #"locale.startsWith("de") ? "Hallo" : "Hello""#)
            }
            View("hairline") { Computed("width", "env.pixelLength") }
        }
    }

    static func lineLimit() throws -> Scene {
        try Scene {
            EnvironmentKey("lineLimit", type: "int?")
            Component("Text") {
                Let("string")
                Environment(\.lineLimit)
            }
            Instance("free", of: "Text") { Let("string", "as long as it likes") }
            Container("limited") {
                Instance("text", of: "Text") { Let("string", "two lines") }
                Container("inner") {
                    Instance("text", of: "Text") { Let("string", "one line") }
                }
                .environment(\.lineLimit, 1)
            }
            .environment(\.lineLimit, 2)
        }
    }

    static func lineLimitModifier() throws -> Scene {
        try Scene {
            EnvironmentKey("lineLimit", type: "int?")
            Component("LineLimit", kind: .group) { Let("number", type: "int?") }
                .environment(\.lineLimit, .rule("number"))
            Component("MyView") { Environment(\.lineLimit) }
            Container("page") {
                State("lines", 2)
                Instance("limited", of: "LineLimit") {
                    Let("number", \.lines)
                    Instance("myView", of: "MyView")
                }
                // The same by its key path.
                Instance("myView", of: "MyView").environment(\.lineLimit, .rule("lines"))
                Instance("free", of: "MyView")
            }
        }
    }

    static func preferredColorScheme() throws -> Scene {
        try Scene {
            PreferenceKey("preferredColorScheme", type: "string?")
            Component("PopoverContent") { Environment(\.colorScheme) }
                .preference(\.preferredColorScheme, "dark")
            Container("myView") {
                State("isPopped", true)
                Environment(\.colorScheme)
                Container("popover") {
                    Binding("isPresented", to: \.isPopped)
                    Computed("scheme", "preferences.preferredColorScheme")
                    If("isPresented") { Instance("content", of: "PopoverContent") }
                    View("frame") { Environment(\.colorScheme) }
                }
                .environment(
                    \.colorScheme,
                    .rule(
                        "preferences.preferredColorScheme == null ? env.colorScheme : preferences.preferredColorScheme")
                )
            }
        }
    }

    static func customEnvironmentKey() throws -> Scene {
        try Scene {
            EnvironmentKey("myCustomValue", default: "Default value")
            Component("MyView") {
                Environment("customValue", \.myCustomValue)
                Computed("text", "customValue")
            }
            Instance("plain", of: "MyView")
            Instance("modified", of: "MyView").environment(\.myCustomValue, "Another string")
        }
    }

    static func customEnvironmentModifier() throws -> Scene {
        try Scene {
            EnvironmentKey("myCustomValue", default: "Default value")
            Component("MyCustomValue", kind: .group) { Let("value", type: "string") }
                .environment(\.myCustomValue, .rule("value"))
            Component("MyView") {
                Environment("customValue", \.myCustomValue)
                Computed("text", "customValue")
            }
            Instance("modified", of: "MyCustomValue") {
                Let("value", "Another string")
                Instance("myView", of: "MyView")
            }
            Instance("myView", of: "MyView").environment(\.myCustomValue, "Another string")
        }
    }

    static func truncationMode() throws -> Scene {
        try Scene {
            EnvironmentKey("truncationMode", default: "tail")
            Component("MyView") { Environment(\.truncationMode) }
            Container("outer") {
                Instance("myView", of: "MyView")
            }
            .environment(\.truncationMode, "head")
            Instance("myView", of: "MyView")
        }
    }

    static func truncationModeModifier() throws -> Scene {
        try Scene {
            EnvironmentKey("truncationMode", default: "tail")
            Component("TruncationMode", kind: .group) { Let("mode", type: "string") }
                .environment(\.truncationMode, .rule("mode"))
            Component("MyView") { Environment(\.truncationMode) }
            Instance("shortened", of: "TruncationMode") {
                Let("mode", "head")
                Instance("myView", of: "MyView")
                // Of two modifiers the nearest wins.
                Instance("inner", of: "TruncationMode") {
                    Let("mode", "middle")
                    Instance("myView", of: "MyView")
                }
            }
        }
    }

    static func profile() throws -> Scene {
        try Scene {
            ObjectType("Profile") { State("name", "") }
            Component("ContentView") {
                Environment("currentProfile", object: "Profile?")
                Computed("greeting", #"currentProfile == null ? "Who are you?" : "Hello " + currentProfile.name"#)
            }
            Instance("stranger", of: "ContentView")
            Container("root") {
                State("currentProfile", ["name": "Ada"], type: "Profile")
                Instance("content", of: "ContentView")
                Container("guestArea") {
                    State("guest", ["name": "Guest"], type: "Profile")
                    Instance("content", of: "ContentView")
                }
                .environment(object: \.guest)
            }
            .environment(object: \.currentProfile)
        }
    }

    static func transformEnvironment() throws -> Scene {
        try Scene {
            EnvironmentKey("fontScale", default: 1.0)
            EnvironmentKey("padding", default: ["leading": 8, "trailing": 8])
            Component("Text") {
                Environment(\.fontScale)
                Environment(\.padding)
            }
            Container("page") {
                Instance("body", of: "Text")
                Container("headline") {
                    Instance("text", of: "Text")
                    Instance("emphasized", of: "Text").transformEnvironment(\.fontScale, "value * 2.0")
                }
                .transformEnvironment(\.fontScale, "value * 1.5")
            }
            .environment(\.padding.leading, 16)
        }
    }

    static func profileOptional() throws -> Scene {
        try Scene {
            ObjectType("Profile") { State("name", "nobody") }
            Component("Greeting") {
                Environment("profile", object: "Profile?")
                Computed("text", #"profile == null ? "Who are you?" : "Hello " + profile.name"#)
            }
            Container("app") {
                State("profile", .null, type: "Profile?")
                Instance("greeting", of: "Greeting")
            }
            .environment(object: \.profile)
            Container("desk") {
                State("isGuest", false)
                State("owner", ["name": "Ada"], type: "Profile")
                State("guest", ["name": "Guest"], type: "Profile")
                Container("area") {
                    Let("current", choosing: "isGuest ? $guest : $owner")
                    Instance("greeting", of: "Greeting")
                    View("name") { Binding("text", to: \.current.name) }
                }
                .environment(object: \.current)
            }
        }
    }
}
