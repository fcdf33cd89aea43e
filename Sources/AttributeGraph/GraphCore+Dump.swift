extension GraphCore where Host: ~Copyable {
    /// The graph as one JSON object, `{"revision": …, "attributes": [{"id", "label", "kind", "state", "inputs",
    /// …}]}`, for tools and bug reports. Evaluates nothing. O(graph).
    ///
    /// - Parameter label: a name for people; any text.
    public func dumpJSON(label: (AttributeID) -> String) -> String {
        var text = "{\"revision\":\(revision),\"attributes\":["
        var isFirst = true
        for attribute in attributes {
            guard let report = report(on: attribute) else { continue }
            if !isFirst { text += "," }
            isFirst = false
            let kind = report.isInput ? "input" : report.isObserver ? "observer" : "rule"
            text += "\n{\"id\":\(quoted(attribute.description)),\"label\":\(quoted(label(attribute))),"
            text += "\"kind\":\"\(kind)\",\"state\":\"\(report.state.rawValue)\",\"watched\":\(report.isWatched),"
            text += "\"cyclic\":\(report.isCyclic),\"changedAt\":\(report.changedAt),"
            text += "\"evaluatedAt\":\(report.evaluatedAt),\"evaluations\":\(report.evaluations),\"cause\":"
            text += report.cause.map { quoted($0.description) } ?? "null"
            text += ",\"inputs\":["
            text += report.inputs.map { quoted($0.description) }.joined(separator: ",")
            text += "]}"
        }
        return text + "\n]}\n"
    }

    /// The graph in Graphviz' dot language. Inputs are boxes, observers are double octagons, and attributes that may be
    /// out of date are dashed. A thick edge is the cause of the last evaluation. Evaluates nothing. O(graph).
    public func dumpDot(label: (AttributeID) -> String) -> String {
        var text = "digraph attributes {\n  rankdir=LR;\n"
        for attribute in attributes {
            guard let report = report(on: attribute) else { continue }
            let shape = report.isInput ? "box" : report.isObserver ? "doubleoctagon" : "ellipse"
            let style = report.state == .valid ? "solid" : "dashed"
            text += "  v\(attribute.index) [label=\(quoted(label(attribute))), shape=\(shape), style=\(style)];\n"
            for input in report.inputs {
                let weight = input == report.cause ? " [penwidth=2]" : ""
                text += "  v\(input.index) -> v\(attribute.index)\(weight);\n"
            }
        }
        return text + "}\n"
    }

    /// A string literal that JSON and dot both read as this text. Dot shows control characters other than line ends as
    /// numbers.
    func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
