extension Trajectory {
    /// The motion drawn with Braille dots for a terminal, values upwards, seconds to the right. Dotted lines mark the
    /// targets and the moments of change.
    /// - Parameters:
    ///   - width, height: of the drawing area in characters. The labels are to its left and below it.
    public func plot(width: Int = 60, height: Int = 12) -> String {
        let (width, height) = (min(max(width, 8), 400), min(max(height, 4), 200))
        var canvas = BrailleCanvas(width: width, height: height)
        let samples = samples(canvas.columns * 4)
        let range = valueRange(samples)
        let length = shownLength
        func row(_ value: Double) -> Int {
            let part = (value - range.lowerBound) / (range.upperBound - range.lowerBound)
            return Int(((1 - part) * Double(canvas.rows - 1)).rounded())
        }
        func column(_ time: Double) -> Int { Int((time / length * Double(canvas.columns - 1)).rounded()) }
        for (i, timeline) in timelines.enumerated() {
            let until = i + 1 < timelines.count ? timelines[i + 1].start : length
            for x in stride(from: column(timeline.start), through: max(column(timeline.start), column(until)), by: 4) {
                canvas.set(x, row(timeline.to.first))
            }
            if i > 0 { for y in stride(from: 0, to: canvas.rows, by: 4) { canvas.set(column(timeline.start), y) } }
        }
        var last: Int?
        for (time, value) in samples {
            let (x, y) = (column(time), row(value))
            // Vertical lines connect the dots of steep parts.
            for between in min(y, last ?? y)...max(y, last ?? y) { canvas.set(x, between) }
            last = y
        }
        return labelled(canvas.lines, range: range, length: length, width: width)
    }

    private func labelled(_ lines: [String], range: ClosedRange<Double>, length: Double, width: Int) -> String {
        let labels = [
            shortLabel(range.upperBound), shortLabel((range.upperBound + range.lowerBound) / 2),
            shortLabel(range.lowerBound),
        ]
        let margin = labels.map(\.count).max() ?? 0
        func padded(_ text: String) -> String { String(repeating: " ", count: margin - text.count) + text }
        var text = ""
        for (i, line) in lines.enumerated() {
            let label = i == 0 ? labels[0] : i == lines.count / 2 ? labels[1] : i == lines.count - 1 ? labels[2] : ""
            text += padded(label) + (label.isEmpty ? " │" : " ┤") + line + "\n"
        }
        text += padded("") + " └" + String(repeating: "─", count: width) + "\n"
        let (start, middle, end) = ("0", shortLabel(length / 2), shortLabel(length) + " s")
        let left = max(1, width / 2 - start.count - middle.count / 2)
        let right = max(1, width - start.count - left - middle.count - end.count)
        text +=
            padded("") + "  " + start + String(repeating: " ", count: left) + middle
            + String(repeating: " ", count: right) + end + "\n"
        return text
    }

    /// The range of displayed values. It includes the targets and is never empty.
    func valueRange(_ samples: [(time: Double, value: Double)]) -> ClosedRange<Double> {
        let values = samples.map(\.value).filter(\.isFinite) + timelines.flatMap { [$0.to.first, $0.from.first] }
        let (low, high) = (values.min() ?? 0, values.max() ?? 1)
        return high > low ? low...high : (low - max(0.5, low.magnitude / 2))...(high + max(0.5, high.magnitude / 2))
    }
}

/// Three significant digits suffice beside an axis.
func shortLabel(_ value: Double) -> String {
    let magnitude = value.magnitude
    if magnitude != 0, magnitude >= 1e6 || magnitude < 1e-3 { return compactText(value) }
    return fixedText(value, decimals: magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3)
}

/// A canvas of two by four dots per character.
private struct BrailleCanvas {
    let width: Int
    let height: Int
    private var cells: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        cells = Array(repeating: 0, count: width * height)
    }

    var columns: Int { width * 2 }
    var rows: Int { height * 4 }

    mutating func set(_ x: Int, _ y: Int) {
        guard (0..<columns).contains(x), (0..<rows).contains(y) else { return }
        let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        cells[y / 4 * width + x / 2] |= bits[y % 4][x % 2]
    }

    var lines: [String] {
        (0..<height).map { row in
            var line = String.UnicodeScalarView()
            for cell in cells[row * width..<(row + 1) * width] {
                line.append(cell == 0 ? " " : Unicode.Scalar(0x2800 + UInt32(cell)) ?? " ")
            }
            while line.last == " " { line.removeLast() }
            return String(line)
        }
    }
}
