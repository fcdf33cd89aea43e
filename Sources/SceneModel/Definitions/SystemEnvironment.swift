/// Environment keys that every graph has.
public enum SystemEnvironment {
    /// The root has their values as attributes.
    public static var keys: [KeyDefinition] {
        [
            KeyDefinition(name: "locale", type: .string, defaultValue: "en_US"),
            KeyDefinition(name: "timeZone", type: .string, defaultValue: "UTC"),
            KeyDefinition(name: "colorScheme", type: .string, defaultValue: "light"),
            KeyDefinition(name: "reduceMotion", type: .bool, defaultValue: false),
            KeyDefinition(name: "scenePhase", type: .string, defaultValue: "background"),
            KeyDefinition(name: "pixelLength", type: .double, defaultValue: 1.0),
            KeyDefinition(name: "calendar", type: .string, defaultValue: "gregorian"),
        ]
    }

    /// Keys that only nodes set.
    public static var others: [KeyDefinition] {
        [
            KeyDefinition(name: "lineLimit", type: .nullable(.int), defaultValue: .null),
            KeyDefinition(name: "truncationMode", type: .string, defaultValue: "tail"),
        ]
    }
}
