import AttributeValues
import SceneModel

/// The JSON schema with which editors check scenes: a frame, filled with the checker's keys.
enum SceneSchema {
    /// In the frame, `"$keys": form` in an object stands for the properties of a form, and no others.
    private static let mark = "$keys"
    /// `{"$names": form}` stands for the names of its keys.
    private static let namesMark = "$names"

    static var text: String {
        guard let frame = try? JSONParser.parseOnce(frame.utf8) else { preconditionFailure("the frame is not JSON") }
        return draw(filled(frame), indent: 0) + "\n"
    }

    /// The frame is not deep.
    private static func filled(_ value: Value) -> Value {
        switch value {
        case .list(let list): return .list(ValueList(list.map(filled)))
        case .map(let map):
            if let name = map[.string(namesMark)]?.string {
                return ["enum": .list(ValueList(form(name).keys.map { .string($0) }))]
            }
            var made = ValueMap()
            for (key, value) in map where key != .string(mark) { made[key] = filled(value) }
            guard let name = map[.string(mark)]?.string else { return .map(made) }
            made["additionalProperties"] = false
            made["properties"] = .map(properties(of: form(name)))
            return .map(made)
        default: return value
        }
    }

    private static func form(_ name: String) -> SceneForm {
        guard let form = SceneForm(rawValue: name) else { preconditionFailure("there is no form \(name)") }
        return form
    }

    private static func properties(of form: SceneForm) -> ValueMap {
        var properties = ValueMap()
        for (key, row) in SceneGuide.rows(of: form) {
            var property = ValueMap([("description", .string(row.meaning.replacing("`", with: "")))])
            for (name, value) in row.schema { property[name] = value }
            properties[.string(key)] = filled(.map(property))
        }
        return properties
    }

    private static let columns = 120

    /// Objects and lists stand on one line where they fit.
    private static func draw(_ value: Value, indent: Int) -> String {
        let line = value.jsonText
        if indent + line.count <= columns { return line }
        let margin = String(repeating: " ", count: indent)
        func lines(_ parts: [String], _ open: String, _ close: String) -> String {
            open + "\n" + parts.map { margin + "  " + $0 }.joined(separator: ",\n") + "\n" + margin + close
        }
        switch value {
        case .map(let map):
            return lines(map.map { "\($0.key.jsonText): " + draw($0.value, indent: indent + 2) }, "{", "}")
        case .list(let list): return lines(list.map { draw($0, indent: indent + 2) }, "[", "]")
        default: return line
        }
    }

    private static let frame = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "https://agd.invalid/scene.schema.json",
          "title": "agd scene",
          "description": "A scene document of agd, version 1. Documentation/Scenes.md explains the format.",
          "type": "object",
          "$defs": {
            "name": {
              "description": "Letters, digits and _, not beginning with a digit.",
              "type": "string",
              "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"
            },
            "type": {
              "description": "int, double?, list(string), map(string, int), vector(3), color, an object type, …",
              "type": "string",
              "minLength": 1
            },
            "rule": {"description": "A rule in CEL.", "type": ["string", "number", "boolean"]},
            "expression": {"description": "A literal, =rule, or $reference. == and $$ begin a literal text with = or $."},
            "animation": {
              "description": "The text form, as 'easeInOut(duration: 1).delay(0.2)', or the JSON form {curve, modifiers}; null for none.",
              "anyOf": [{"type": ["string", "null"]}, {"type": "object", "required": ["curve"]}]
            },
            "keys": {
              "description": "Keys of the environment, of container values and of preferences, with their defaults.",
              "type": ["object", "null"],
              "$keys": "keys"
            },
            "keyGroup": {
              "type": ["object", "null"],
              "propertyNames": {"$ref": "#/$defs/name"},
              "additionalProperties": {
                "description": "{default, type, reduce}, or the default alone.",
                "if": {"type": "object", "required": ["default"]},
                "then": {"$keys": "key"}
              }
            },
            "states": {
              "description": "Stored values: a literal, or {initial, type, transient, history, expires, entries, past}. A rule as initial is evaluated once, when the node is made.",
              "type": ["object", "null"],
              "propertyNames": {"$ref": "#/$defs/name"},
              "additionalProperties": {
                "if": {
                  "type": "object",
                  "anyOf": [{"required": ["initial"]}, {"required": ["type"]}],
                  "propertyNames": {"$names": "state"}
                },
                "then": {"$keys": "state"}
              }
            },
            "computed": {
              "description": "Rules over the node's own attributes.",
              "type": ["object", "null"],
              "propertyNames": {"$ref": "#/$defs/name"},
              "additionalProperties": {
                "anyOf": [{"$ref": "#/$defs/rule"}, {"type": "object", "required": ["rule"], "$keys": "computed"}]
              }
            },
            "inputs": {
              "description": "A map of names and what they are given; in a component also the list of its parameters.",
              "anyOf": [
                {"type": "null"},
                {"type": "array", "items": {"$ref": "#/$defs/name"}},
                {"type": "object", "propertyNames": {"$ref": "#/$defs/name"}}
              ]
            },
            "arguments": {
              "description": "A map of names and what they are given.",
              "type": ["object", "null"],
              "propertyNames": {"$ref": "#/$defs/name"}
            },
            "bindings": {
              "description": "A map of names and their targets.",
              "type": ["object", "null"],
              "propertyNames": {"$ref": "#/$defs/name"},
              "additionalProperties": {
                "if": {"type": "object", "required": ["get"], "propertyNames": {"$names": "computedBinding"}},
                "then": {"required": ["get", "set"], "$keys": "computedBinding"},
                "else": {
                  "if": {
                    "type": "object",
                    "required": ["to"],
                    "anyOf": [{"propertyNames": {"$names": "binding"}}, {"properties": {"to": {"type": "string", "pattern": "^\\$[^$]"}}}]
                  },
                  "then": {"$keys": "binding"},
                  "else": {"$ref": "#/$defs/bindingTarget"}
                }
              }
            },
            "bindingTarget": {
              "description": "$reference, =condition ? $one : $other, or a literal for a constant. A rule alone cannot be written to.",
              "not": {"type": "string", "pattern": "^(=(?!=)[^$]*|\\$(?![A-Za-z_/$])[\\s\\S]*)$"}
            },
            "parameters": {
              "description": "The parameters of the component: names, or a map of names and defaults, or of {default, type}.",
              "anyOf": [
                {"type": "null"},
                {"type": "array", "items": {"$ref": "#/$defs/name"}},
                {
                  "type": "object",
                  "propertyNames": {"$ref": "#/$defs/name"},
                  "additionalProperties": {
                    "allOf": [
                      {"not": {"type": "string", "pattern": "^(\\$[^$]|=[^=])"}},
                      {"not": {"type": "object", "required": ["to"], "properties": {"to": {"type": "string", "pattern": "^\\$[^$]"}}}},
                      {"not": {"type": "object", "required": ["get"], "propertyNames": {"$names": "computedBinding"}}}
                    ]
                  }
                }
              ]
            },
            "day": {"enum": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]},
            "clock": {
              "anyOf": [
                {"type": "string", "pattern": "^(every .+|everyMinute|animation)$"},
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "required": ["every"], "$keys": "clock"},
                {"type": "object", "required": ["at"], "$keys": "dailyClock"},
                {"type": "object", "required": ["animation"], "$keys": "animationClock"}
              ]
            },
            "action": {"anyOf": [{"$ref": "#/$defs/calledAction"}, {"$ref": "#/$defs/reaction"}]},
            "calledAction": {
              "anyOf": [
                {"$ref": "#/$defs/actionStep"},
                {"type": "array", "items": {"$ref": "#/$defs/actionStep"}},
                {"type": "object", "required": ["steps"], "$keys": "steps"}
              ]
            },
            "onChange": {"type": "object", "required": ["of", "perform"], "$keys": "onChange"},
            "actionParameters": {
              "anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/name"}},
                {
                  "type": "object",
                  "propertyNames": {"$ref": "#/$defs/name"},
                  "additionalProperties": {"type": "object", "$keys": "parameter"}
                }
              ]
            },
            "actionStep": {"type": "object", "$keys": "action"},
            "writes": {
              "description": "$name or a path, which may have wildcards: a value, or =rule.",
              "type": "object",
              "propertyNames": {"type": "string", "pattern": "^[$/]"}
            },
            "targets": {
              "anyOf": [
                {"type": "string", "pattern": "^[$/]"},
                {"type": "array", "items": {"type": "string", "pattern": "^[$/]"}}
              ]
            },
            "animationModifier": {
              "description": "When the value changes in a transaction, this curve applies to the node and below.",
              "type": "object",
              "required": ["curve", "value"],
              "$keys": "animation"
            },
            "keyPaths": {
              "description": "key: expression, or key.field: expression for a part of a grouped value.",
              "type": ["object", "null"]
            },
            "nodes": {
              "type": ["array", "null"],
              "items": {
                "if": {"required": ["if"]},
                "then": {"$ref": "#/$defs/if"},
                "else": {
                  "if": {"required": ["switch"]},
                  "then": {"$ref": "#/$defs/switch"},
                  "else": {
                    "if": {"required": ["place"]},
                    "then": {"$ref": "#/$defs/place"},
                    "else": {
                      "if": {"required": ["slot"]},
                      "then": {"$ref": "#/$defs/slot"},
                      "else": {"$ref": "#/$defs/ownNode"}
                    }
                  }
                }
              }
            },
            "if": {
              "description": "Nodes that are there while a rule is true, and others while it is false.",
              "type": "object",
              "required": ["if", "then"],
              "$keys": "if"
            },
            "switch": {
              "description": "Nodes for each value of a rule.",
              "type": "object",
              "required": ["switch", "cases"],
              "$keys": "switch"
            },
            "place": {
              "description": "In the body of a component: shows subviews that the component is given.",
              "type": "object",
              "required": ["place"],
              "$keys": "place"
            },
            "slot": {
              "description": "In the body of a component: shows what the component is given for a slot.",
              "type": "object",
              "required": ["slot"],
              "$keys": "slot"
            },
            "node": {"type": "object", "$keys": "node"},
            "ownNode": {
              "allOf": [
                {"$ref": "#/$defs/node"},
                {"properties": {"binding": {"$ref": "#/$defs/bindings"}, "let": {"$ref": "#/$defs/arguments"}}}
              ]
            },
            "forEach": {
              "description": "One instance per element of a list.",
              "type": "object",
              "required": ["in"],
              "anyOf": [{"required": ["node"]}, {"required": ["component"]}],
              "$keys": "forEach"
            },
            "preferenceGroup": {
              "type": ["object", "null"],
              "propertyNames": {"$ref": "#/$defs/name"},
              "additionalProperties": {
                "description": "{default, type, reduce}, or the default alone.",
                "if": {"type": "object", "required": ["default"]},
                "then": {"$keys": "preferenceKey"}
              }
            },
            "reaction": {
              "type": "object",
              "anyOf": [{"required": ["of", "perform"]}, {"required": ["on", "perform"]}],
              "$keys": "onChange"
            },
            "span": {
              "description": "A length of time, as 30s, 5m or 1h30m.",
              "type": "string",
              "pattern": "^([0-9.]+(d|h|m|s|ms|us|µs|ns))+$"
            }
          },
          "$keys": "scene"
        }
        """#
}
