import AGScenes

// The examples of "ContainerValueKey", "ContainerValues" and "Mastering container views" in Swift.

extension SwiftScenes {
    static func containerValueKey() throws -> Scene {
        try Scene {
            ContainerValueKey("myCustomValue", default: "Default value")
            Component("Text") { Let("string") }
            Component("MyContainer", kind: .container) {
                ForEach("rows", in: .rule("subviews"), as: "subview") {
                    Container {
                        Placed("subview")
                        Instance("caption", of: "Text") {
                            Let("string", .rule("subview.containerValues.myCustomValue"))
                        }
                    }
                }
            }
            Instance("myContainer", of: "MyContainer") {
                Instance("a", of: "Text") { Let("string", "A") }.containerValue(\.myCustomValue, "Hello")
                Instance("b", of: "Text") { Let("string", "B") }.containerValue(\.myCustomValue, "World")
                Instance("c", of: "Text") { Let("string", "C") }
            }
        }
    }

    static func containerValueModifier() throws -> Scene {
        try Scene {
            ContainerValueKey("myCustomValue", default: "Default value")
            Component("MyCustomValue", kind: .group) { Let("value", type: "string") }
                .containerValue(\.myCustomValue, .rule("value"))
            Component("MyView") { State("isSelected", false) }
            Container("stack") {
                State("text", "Another string")
                Computed("values", "subviews.map(s, s.containerValues.myCustomValue)")
                Instance("plain", of: "MyView")
                Instance("set", of: "MyView").containerValue(\.myCustomValue, .rule("text"))
                Instance("modified", of: "MyCustomValue") {
                    Let("value", \.text)
                    Instance("myView", of: "MyView")
                }
            }
        }
    }

    static func containerValueEntry() throws -> Scene {
        try Scene {
            ContainerValueKey("myCustomValue", default: "Default value")
            Container("stack") {
                State("isMarked", false)
                Computed("values", "subviews.map(s, s.containerValues.myCustomValue)")
                View("a").containerValue(\.myCustomValue, .rule(#"isMarked ? "Marked" : "Plain""#))
                View("b")
            }
        }
    }

    static func groupSubviews() throws -> Scene {
        try Scene {
            ContainerValueKey("myCustomValue", default: "Default value")
            Component("Text") { Let("string") }
            Component("Values", kind: .container) {
                ForEach("texts", in: .rule("subviews"), as: "subview") {
                    Instance(of: "Text") { Let("string", .rule("subview.containerValues.myCustomValue")) }
                }
            }
            Container("content") {
                State("a", "Hello")
                Instance("group", of: "Values") {
                    Instance("a", of: "Text") { Let("string", "A") }.containerValue(\.myCustomValue, \.a)
                    Instance("b", of: "Text") { Let("string", "B") }.containerValue(\.myCustomValue, "World")
                }
            }
        }
    }

    static func containerValues() throws -> Scene {
        let values = Computed("values", "subviews.map(s, s.containerValues.myCustomValue)")
        return try Scene {
            ContainerValueKey("myCustomValue", default: 0)
            Container("outer") {
                values
                Container("stack") {
                    values
                    View("a").containerValue(\.myCustomValue, 1)
                    View("b").containerValue(\.myCustomValue, 2)
                    Group("padding") {
                        View("c").containerValue(\.myCustomValue, 3)
                    }
                }
            }
        }
    }

    static func containerValuesSubview() throws -> Scene {
        try Scene {
            ContainerValueKey("myCustomValue", default: 0)
            Component("Reader", kind: .container) {
                Computed("texts", #"subviews.map(s, "value = " + string(s.containerValues.myCustomValue))"#)
            }
            Instance("direct", of: "Reader") {
                View("a").containerValue(\.myCustomValue, 1)
            }
            Instance("wrapped", of: "Reader") {
                Container("stack") {
                    View("a").containerValue(\.myCustomValue, 1)
                }
            }
        }
    }

    static func pinPosition() throws -> Scene {
        try Scene {
            ContainerValueKey("pinPosition", default: ["rotation": 0.0, "xOffset": 0])
            Component("Pinned") { Let("label", default: "") }
                .containerValue(\.pinPosition.xOffset, 3)
            Container("board") {
                Computed("pins", "subviews.map(s, s.containerValues.pinPosition)")
                View("a")
                    .containerValue(\.pinPosition.xOffset, 3)
                View("b")
                    .containerValue(\.pinPosition.rotation, 10)
                    .containerValue(\.pinPosition.xOffset, 5)
                View("c")
                Instance("d", of: "Pinned")
                    .containerValue(\.pinPosition.rotation, 45)
            }
        }
    }

    static func pinModifiers() throws -> Scene {
        try Scene {
            ContainerValueKey("pinPosition", default: ["rotation": 0.0, "xOffset": 0])
            Component("PinRotation", kind: .group) { Let("rotation", type: "double") }
                .containerValue(\.pinPosition.rotation, .rule("rotation"))
            Component("PinXOffset", kind: .group) { Let("offset", type: "int") }
                .containerValue(\.pinPosition.xOffset, .rule("offset"))
            Container("board") {
                Computed("pins", "subviews.map(s, s.containerValues.pinPosition)")
                Instance("shifted", of: "PinXOffset") {
                    Let("offset", 3)
                    View("a")
                }
                Instance("turned", of: "PinXOffset") {
                    Let("offset", 5)
                    Instance("rotation", of: "PinRotation") {
                        Let("rotation", 10)
                        View("b")
                    }
                }
            }
        }
    }

    static func tags() throws -> Scene {
        try Scene {
            Container("picker") {
                State("selection", 1, type: "dyn")
                State("edition", 7)
                Computed("selected", "subviews.filter(s, s.hasTag(selection)).map(s, s.id)")
                Computed("texts", "subviews.filter(s, type(s.tag()) == string).map(s, s.tag())")
                Computed("tags", "subviews.map(s, s.tag())")
                Computed("names", "subviews.map(s, s.tag(string))")
                View("number").tag(1)
                View("text").tag("1")
                View("latest").tag(\.edition)
                View("none")
                View("both").tag([9, "nine"])
                ForEach("days", in: .literal(["mon", "tue"]), id: \.self) { View() }
            }
        }
    }

    static func magazineFirst() throws -> Scene {
        try Scene {
            Component("Magazine", kind: .container) {
                Container("prominent") { Placed("sections.size() > 0 ? sections[0].content : []") }
                ForEach("shelves", in: .rule("sections.filter(s, s.index > 0)"), as: "section") {
                    Group {
                        Placed("section.header")
                        Container("shelf") { Placed("section.content") }
                        Placed("section.footer")
                    }
                }
            }
            Instance("magazine", of: "Magazine") {
                Section("favorites") {
                    View("red")
                    View("orange")
                } header: {
                    View("title") { Let("text", "Favorites") }
                }
                Section("second") {
                    View("green")
                    View("yellow")
                }
                Section("third") {
                    View("blue")
                    View("purple")
                } footer: {
                    View("footer") { Let("text", "Footer") }
                }
            }
        }
    }

    static func magazineFeatured() throws -> Scene {
        try Scene {
            ContainerValueKey("isFeatured", default: false)
            Component("Featured", kind: .group) { Let("isFeatured", default: true) }
                .containerValue(\.isFeatured, .rule("isFeatured"))
            Component("Magazine", kind: .container) {
                ForEach("featured", in: .rule("sections.filter(s, s.containerValues.isFeatured)"), as: "section") {
                    Container { Placed("section.content") }
                }
                ForEach("others", in: .rule("sections.filter(s, !s.containerValues.isFeatured)"), as: "section") {
                    Group {
                        Placed("section.header")
                        Container("shelf") { Placed("section.content") }
                        Placed("section.footer")
                    }
                }
            }
            Container("content") {
                State("isThirdFeatured", false)
                Instance("magazine", of: "Magazine") {
                    Section("favorites") {
                        View("red")
                        View("orange")
                    } header: {
                        View("title") { Let("text", "Favorites") }
                    }
                    Instance("marked", of: "Featured") {
                        Section("second") {
                            View("green")
                            View("yellow")
                        }
                    }
                    Instance("maybeMarked", of: "Featured") {
                        Let("isFeatured", \.isThirdFeatured)
                        Section("third") {
                            View("blue")
                            View("purple")
                        } footer: {
                            View("footer") { Let("text", "Footer") }
                        }
                    }
                }
            }
        }
    }

    static func magazine() throws -> Scene {
        try Scene {
            ContainerValueKey("isFeatured", default: false)
            EnvironmentKey("fontScale", default: 1.0)
            Component("Magazine", kind: .container) {
                Computed("featuredViews", "subviews.filter(s, s.containerValues.isFeatured).map(s, s.id)")
                ForEach("featured", in: .rule("sections.filter(s, s.containerValues.isFeatured)"), as: "section") {
                    Container { Placed("section.content") }
                }
                .environment(\.fontScale, 2.0)
                ForEach("others", in: .rule("sections.filter(s, !s.containerValues.isFeatured)"), as: "section") {
                    Group {
                        Placed("section.header")
                        Container("shelf") { Placed("section.content") }
                        Placed("section.footer")
                    }
                }
            }
            Container("content") {
                State("chosen", "second")
                Instance("magazine", of: "Magazine") {
                    Section("favorites") {
                        View("red") {
                            State("taps", 0)
                            Environment(\.fontScale)
                        }
                        View("orange")
                    } header: {
                        View("title") { Let("text", "Favorites") }
                    }
                    .containerValue(\.isFeatured, .rule(#"chosen == "favorites""#))
                    Section("second") {
                        View("green")
                        View("yellow")
                    }
                    .containerValue(\.isFeatured, .rule(#"chosen == "second""#))
                    Section("third") {
                        View("blue")
                        View("purple")
                    } footer: {
                        View("footer") { Let("text", "Footer") }
                    }
                    .containerValue(\.isFeatured, .rule(#"chosen == "third""#))
                }
            }
        }
    }

    static func card() throws -> Scene {
        try Scene {
            EnvironmentKey("fontScale", default: 1.0)
            Component("Card", kind: .container) {
                Let("title", default: "Untitled")
                Group("top") {
                    Slot("header") {
                        View("label") {
                            Let("text", \.title)
                            Environment(\.fontScale)
                        }
                    }
                }
                .environment(\.fontScale, 1.5)
                Container("body") {
                    Computed("count", "subviews.size()")
                    Slot()
                }
                .environment(\.fontScale, 0.8)
            }
            Container("home") {
                State("title", "Living room")
                State("isLong", false)
                Instance("lamps", of: "Card") {
                    View("ceiling") {
                        State("isOn", true)
                        Environment(\.fontScale)
                    }
                    If("isLong") {
                        View("floor") { State("isOn", false) }
                    }
                }
                .slot("header") {
                    View("name") {
                        Let("text", \.title)
                        Environment(\.fontScale)
                    }
                }
                Instance("empty", of: "Card")
            }
        }
    }
}
