/// A file that a browser loads: the page, its style, and the modules of its script.
///
/// Each stands in a Swift file of its own as it is, in a raw literal: it is edited as what it is, and there is no build
/// step. Text comes to the screen as text nodes only, and nothing is loaded from elsewhere.
package struct DashboardFile: Sendable {
    package let path: String
    package let type: String
    private let text: StaticString

    package var bytes: [UInt8] { text.withUTF8Buffer { unsafe Array($0) } }

    init(_ path: String, _ type: String, _ text: StaticString) {
        self.path = path
        self.type = type
        self.text = text
    }

    static func module(_ name: String, _ text: StaticString) -> DashboardFile {
        DashboardFile("/dashboard/\(name).js", "text/javascript; charset=utf-8", text)
    }

    /// Start reading at `app`: it signs in, draws the frame, and shows the page that the address names.
    package static let all: [DashboardFile] = [
        page, style, icon,
        // The frame, and what all pages use.
        app, elements, format, service, live, plot, forms, tasks,
        // One file a page.
        overviewPage, poolsPage, poolPage, tenantsPage, tenantPage, alertsPage, decisionsPage, gatewaysPage,
        contractsPage,
        auditPage, costsPage, usagePage, whatIfPage, levelsPage,
    ]
}
