/// Text for HTML, and the few shapes that a report is made of. Everything stands in the one file: no script, no font and
/// no picture comes from elsewhere.
struct HTMLPage {
    let title: String
    private var body = ""

    init(title: String) {
        self.title = title
    }

    mutating func heading(_ text: String) { body += "<h2>\(HTMLPage.escaped(text))</h2>\n" }

    mutating func paragraph(_ text: String) { body += "<p>\(HTMLPage.escaped(text))</p>\n" }

    /// A plot, or another piece that is HTML already.
    mutating func raw(_ html: String) { body += html + "\n" }

    /// Small pictures side by side, as many as fit.
    mutating func grid(_ cells: [String]) {
        body += "<div class=\"grid\">\n" + cells.map { "<figure>\($0)</figure>\n" }.joined() + "</div>\n"
    }

    /// The first column is text, the others are figures. A cell that is `true` in `marked` stands out.
    mutating func table(_ header: [String], _ rows: [[String]], marked: [[Bool]] = []) {
        body += "<div class=\"wide\"><table><thead><tr>"
        for (index, cell) in header.enumerated() {
            body += "<th\(index == 0 ? " class=\"text\"" : "")>\(HTMLPage.escaped(cell))</th>"
        }
        body += "</tr></thead><tbody>\n"
        for (row, cells) in rows.enumerated() {
            body += "<tr>"
            for (column, cell) in cells.enumerated() {
                let isMarked = marked.indices.contains(row) && marked[row].indices.contains(column)
                let classes = [column == 0 ? "text" : nil, isMarked && marked[row][column] ? "best" : nil]
                    .compactMap { $0 }
                let attribute = classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\""
                body += "<td\(attribute)>\(HTMLPage.escaped(cell))</td>"
            }
            body += "</tr>\n"
        }
        body += "</tbody></table></div>\n"
    }

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(HTMLPage.escaped(title))</title>
        <style>
        \(HTMLPage.style)</style>
        </head>
        <body>
        <main>
        <h1>\(HTMLPage.escaped(title))</h1>
        \(body)</main>
        </body>
        </html>

        """
    }

    static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    private static let style = """
        :root { color-scheme: light dark; --ink: #1c2430; --soft: #5c6878; --line: #d9dee5; --paper: #ffffff;
          --panel: #f6f8fa; --demand: #b9c6d6; --allocation: #c2571a; --service: #1769aa; --truth: #5c6878;
          --estimate: #c2571a; --best: #e3f2e6; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e4e9ef; --soft: #98a4b3; --line: #37414d;
          --paper: #14181d; --panel: #1b2128; --demand: #44525f; --allocation: #f0935a; --service: #62b0ee;
          --truth: #98a4b3; --estimate: #f0935a; --best: #1e3a27; } }
        body { margin: 0; background: var(--paper); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        main { max-width: 1180px; margin: 0 auto; padding: 24px 20px 64px; }
        h1 { font-size: 24px; margin: 0 0 12px; } h2 { font-size: 18px; margin: 36px 0 8px; }
        p { max-width: 78ch; margin: 0 0 10px; } .note { color: var(--soft); }
        .wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
        th, td { padding: 4px 10px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
        th { font-weight: 600; color: var(--soft); } th.text, td.text { text-align: left; }
        td.best { background: var(--best); font-weight: 600; }
        .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 14px; }
        figure { margin: 0; padding: 10px; background: var(--panel); border-radius: 6px; }
        svg { width: 100%; height: auto; display: block; } svg text { fill: var(--soft); font-size: 11px; }
        svg text.title { fill: var(--ink); font-size: 13px; font-weight: 600; }
        svg .axis { stroke: var(--line); stroke-width: 1; fill: none; }
        svg path { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
        svg .demand { fill: var(--demand); stroke: none; } svg .allocation { stroke: var(--allocation); }
        svg .service { stroke: var(--service); } svg .truth { stroke: var(--truth); stroke-width: 2.4; }
        svg .estimate { stroke: var(--estimate); } svg rect.bar { fill: var(--service); }
        svg rect.bar.other { fill: var(--demand); } svg .spread { stroke: var(--ink); stroke-width: 1.2; }
        .key { color: var(--soft); } .key b { font-weight: 600; }
        .key i { display: inline-block; width: 18px; height: 3px; margin: 0 5px 3px 12px; vertical-align: middle; }
        .key i.demand { background: var(--demand); height: 10px; } .key i.allocation { background: var(--allocation); }
        .key i.service { background: var(--service); } .key i.truth { background: var(--truth); }
        .key i.estimate { background: var(--estimate); }

        """
}
