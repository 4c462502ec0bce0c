/// Numbers over time as SVG.
struct LinePlot {
    enum Style: String {
        /// Filled down to 0.
        case demand
        case allocation, service, truth, estimate
    }

    struct Series {
        let style: Style
        /// Ascending by `x`.
        let points: [(x: Double, y: Double)]
        /// Each value holds until the next point.
        var isStepped = false
    }

    let title: String
    /// The unit of `y`, behind the title.
    let unit: String
    let series: [Series]
    /// Right end of the horizontal axis, in minutes.
    let minutes: Double
    var width = 360.0
    var height = 170.0

    private static let left = 46.0
    private static let right = 8.0
    private static let top = 24.0
    private static let bottom = 22.0

    var svg: String {
        let greatest = series.flatMap { $0.points.map(\.y) }.max() ?? 0
        let axis = PlotAxis(most: greatest)
        let label = HTMLPage.escaped(unit.isEmpty ? title : "\(title), \(unit)")
        var svg = "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(label)\">"
        svg += "<text class=\"title\" x=\"\(Self.text(Self.left))\" y=\"14\">\(HTMLPage.escaped(title))</text>"
        svg +=
            "<text x=\"\(Self.text(width - Self.right))\" y=\"14\" text-anchor=\"end\">\(HTMLPage.escaped(unit))</text>"
        for tick in axis.ticks {
            let y = Self.text(self.y(tick, axis))
            svg += "<path class=\"axis\" d=\"M\(Self.text(Self.left)) \(y)H\(Self.text(width - Self.right))\"/>"
            svg += "<text x=\"\(Self.text(Self.left - 5))\" y=\"\(Self.text(self.y(tick, axis) + 4))\""
            svg += " text-anchor=\"end\">\(PlotAxis.short(tick))</text>"
        }
        for tick in PlotAxis(most: minutes, fitting: true).ticks where tick <= minutes {
            // The last one would else stand half outside.
            let anchor = x(tick) > width - 30 ? "end" : "middle"
            svg += "<text x=\"\(Self.text(x(tick)))\" y=\"\(Self.text(height - 6))\" text-anchor=\"\(anchor)\">"
            svg += "\(PlotAxis.short(tick)) min</text>"
        }
        for one in series where !one.points.isEmpty {
            svg += "<path class=\"\(one.style.rawValue)\" d=\"\(path(one, axis))\"/>"
        }
        return svg + "</svg>"
    }

    private func path(_ series: Series, _ axis: PlotAxis) -> String {
        var path = ""
        for (index, point) in series.points.enumerated() {
            let x = Self.text(x(point.x))
            if index == 0 {
                path += "M\(x) \(Self.text(y(point.y, axis)))"
            } else {
                path +=
                    series.isStepped ? "H\(x)V\(Self.text(y(point.y, axis)))" : "L\(x) \(Self.text(y(point.y, axis)))"
            }
        }
        if series.isStepped { path += "H\(Self.text(x(minutes)))" }
        if series.style == .demand, let first = series.points.first, let last = series.points.last {
            let end = series.isStepped ? minutes : last.x
            path += "L\(Self.text(x(end))) \(Self.text(y(0, axis)))L\(Self.text(x(first.x))) \(Self.text(y(0, axis)))Z"
        }
        return path
    }

    private func x(_ minute: Double) -> Double {
        Self.left + (width - Self.left - Self.right) * (minutes > 0 ? minute / minutes : 0)
    }

    private func y(_ value: Double, _ axis: PlotAxis) -> Double {
        let inner = height - Self.top - Self.bottom
        return Self.top + inner * (1 - value / axis.end)
    }

    /// A tenth of a pixel is enough.
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

/// Round numbers from 0 to a little over the greatest value.
struct PlotAxis {
    let ticks: [Double]
    let end: Double

    /// - Parameter fitting: the axis ends with the greatest value itself.
    init(most: Double, fitting: Bool = false) {
        guard most > 0, most.isFinite else {
            ticks = [0]
            end = 1
            return
        }
        // The power of ten below a quarter of the range, then 1, 2, 5 or 10 of it.
        var unit = 1.0
        while unit * 10 <= most / 4 { unit *= 10 }
        while unit > most / 4 { unit /= 10 }
        let step = [1.0, 2, 5, 10].map { $0 * unit }.first { most / $0 <= 4.5 } ?? 10 * unit
        let count = Int((most / step).rounded(fitting ? .down : .up))
        ticks = (0...max(1, count)).map { Double($0) * step }
        end = fitting ? most : Double(max(1, count)) * step
    }

    /// `1.2M`, `450k`, `0.05`.
    static func short(_ value: Double) -> String {
        for (size, suffix) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] where value.magnitude >= size {
            return figure(value / size) + suffix
        }
        return figure(value)
    }

    /// At most two digits behind the point, none that are 0.
    static func figure(_ value: Double) -> String {
        let hundredths = Int64((value * 100).rounded())
        let sign = hundredths < 0 ? "-" : ""
        let whole = hundredths.magnitude / 100
        let rest = hundredths.magnitude % 100
        if rest == 0 { return "\(sign)\(whole)" }
        return rest % 10 == 0 ? "\(sign)\(whole).\(rest / 10)" : "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}

/// One bar a name, with how far it spreads.
struct BarPlot {
    struct Bar {
        let name: String
        let value: Double
        let spread: Double
        let stands: Bool
    }

    let title: String
    let bars: [Bar]

    var svg: String {
        let rowHeight = 20.0
        // Somewhat more than half as wide as high, a letter.
        let left = 12 + 6.1 * Double(bars.map(\.name.count).max() ?? 0)
        let width = 620.0
        let height = 24 + rowHeight * Double(bars.count) + 6
        let axis = PlotAxis(most: bars.map { $0.value + $0.spread }.max() ?? 0)
        func x(_ value: Double) -> String { LinePlot.text(left + (width - left - 60) * value / axis.end) }
        var svg =
            "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(HTMLPage.escaped(title))\">"
        svg += "<text class=\"title\" x=\"0\" y=\"14\">\(HTMLPage.escaped(title))</text>"
        for (index, bar) in bars.enumerated() {
            let y = 24 + rowHeight * Double(index)
            let middle = LinePlot.text(y + rowHeight / 2)
            svg += "<text x=\"\(LinePlot.text(left - 8))\" y=\"\(LinePlot.text(y + 14))\" text-anchor=\"end\">"
            svg += "\(HTMLPage.escaped(bar.name))</text>"
            let length = LinePlot.text(max(0, (width - left - 60) * bar.value / axis.end))
            svg +=
                "<rect class=\"bar\(bar.stands ? "" : " other")\" x=\"\(LinePlot.text(left))\" y=\"\(LinePlot.text(y + 3))\""
            svg += " width=\"\(length)\" height=\"\(LinePlot.text(rowHeight - 6))\"/>"
            if bar.spread > 0 {
                let low = x(max(0, bar.value - bar.spread))
                svg += "<path class=\"spread\" d=\"M\(low) \(middle)H\(x(bar.value + bar.spread))\"/>"
            }
            svg += "<text x=\"\(LinePlot.text(left + (width - left - 60) * (bar.value + bar.spread) / axis.end + 6))\""
            svg += " y=\"\(LinePlot.text(y + 14))\">\(PlotAxis.thousandths(bar.value))</text>"
        }
        return svg + "</svg>"
    }
}

extension PlotAxis {
    /// Three digits behind the point.
    static func thousandths(_ value: Double) -> String {
        let thousandths = Int64((value * 1000).rounded())
        let rest = String(thousandths.magnitude % 1000 + 1000).dropFirst()
        return "\(thousandths < 0 ? "-" : "")\(thousandths.magnitude / 1000).\(rest)"
    }
}
