extension DashboardFile {
    static let page = DashboardFile(
        "/", "text/html; charset=utf-8",
        #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Headroom</title>
        <link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="/dashboard/style.css">
        <script type="module" src="/dashboard/app.js"></script>
        </head>
        <body>
        <a class="skip" href="#main">Skip to the page</a>
        <svg class="patterns" aria-hidden="true" width="0" height="0">
        <defs>
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <line x1="0" y1="0" x2="0" y2="6" class="hatch-line"></line>
        </pattern>
        </defs>
        </svg>
        <div id="frame"><noscript>The dashboard needs JavaScript. The same numbers are in <code>headroom status</code>.</noscript></div>
        <div id="said" class="hidden" role="status" aria-live="polite"></div>
        </body>
        </html>
        """#)

    static let icon = DashboardFile(
        "/dashboard/icon.svg", "image/svg+xml",
        #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2a5bd7"/><path d="M6 10h20" stroke="#fff" stroke-width="2.4" stroke-dasharray="3 2.2"/><path d="M6 26V19h6v7zM13 26V15h6v11zM20 26V21h6v5z" fill="#fff"/></svg>
        """#)
}
