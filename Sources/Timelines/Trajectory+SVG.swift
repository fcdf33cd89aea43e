extension Trajectory {
    /// The motion as an SVG document: axes with labels, dotted targets, and the curve. It uses the text colour of the
    /// page (`currentColor`), so it is visible on light and dark backgrounds.
    /// - Parameters:
    ///   - title: a description, which is also the text for people who cannot see the picture.
    ///   - width, height: in pixels.
    public func svg(title: String, width: Int = 640, height: Int = 320) -> String {
        let (width, height) = (min(max(width, 120), 8192), min(max(height, 80), 8192))
        let frame = (left: 56.0, top: 28.0, right: Double(width) - 16, bottom: Double(height) - 32)
        let samples = samples(min(4096, width * 2))
        let range = valueRange(samples)
        let length = shownLength
        func x(_ time: Double) -> String {
            fixedText(frame.left + (frame.right - frame.left) * time / length, decimals: 2)
        }
        func y(_ value: Double) -> String {
            fixedText(
                frame.bottom - (frame.bottom - frame.top) * (value - range.lowerBound)
                    / (range.upperBound - range.lowerBound),
                decimals: 2)
        }
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" \
            height="\(height)" role="img" aria-label="\(escaped(title))" font-family="system-ui, sans-serif" font-size="12" \
            fill="currentColor">
            """,
            "<title>\(escaped(title))</title>",
            "<text x=\"\(width / 2)\" y=\"16\" text-anchor=\"middle\">\(escaped(title))</text>",
        ]
        lines.append("<g stroke=\"currentColor\" stroke-opacity=\"0.25\">")
        for value in ticks(range.lowerBound, range.upperBound) {
            lines.append("<path d=\"M\(x(0)) \(y(value))H\(x(length))\"/>")
        }
        for time in ticks(0, length) {
            lines.append("<path d=\"M\(x(time)) \(y(range.lowerBound))V\(y(range.upperBound))\"/>")
        }
        lines.append("</g>")
        for value in ticks(range.lowerBound, range.upperBound) {
            lines.append(
                "<text x=\"\(fixedText(frame.left - 6, decimals: 0))\" y=\"\(y(value))\" dy=\"0.35em\" "
                    + "text-anchor=\"end\">\(shortLabel(value))</text>")
        }
        for time in ticks(0, length) {
            lines.append(
                "<text x=\"\(x(time))\" y=\"\(fixedText(frame.bottom + 18, decimals: 0))\" "
                    + "text-anchor=\"middle\">\(shortLabel(time)) s</text>")
        }
        lines.append("<g stroke=\"currentColor\" stroke-dasharray=\"2 4\">")
        for (i, timeline) in timelines.enumerated() {
            let until = i + 1 < timelines.count ? timelines[i + 1].start : length
            lines.append("<path d=\"M\(x(timeline.start)) \(y(timeline.to.first))H\(x(until))\"/>")
            if i > 0 {
                lines.append("<path d=\"M\(x(timeline.start)) \(y(range.lowerBound))V\(y(range.upperBound))\"/>")
            }
        }
        lines.append("</g>")
        let points = samples.map { "\(x($0.time)) \(y($0.value))" }.joined(separator: "L")
        lines.append(
            "<path d=\"M\(points)\" fill=\"none\" stroke=\"#2f7de1\" stroke-width=\"2\" stroke-linejoin=\"round\"/>")
        lines.append("</svg>")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Round numbers between two values, four to eight of them.
    private func ticks(_ low: Double, _ high: Double) -> [Double] {
        let rough = (high - low) / 5
        guard rough > 0, rough.isFinite else { return [low] }
        var step = 1.0
        while step > rough { step /= 10 }
        while step * 10 <= rough { step *= 10 }
        step *= rough / step >= 5 ? 5 : rough / step >= 2 ? 2 : 1
        let first = (low / step).rounded(.up)
        return (0..<12).map { (first + Double($0)) * step }.filter { $0 <= high + step * 1e-9 }
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
