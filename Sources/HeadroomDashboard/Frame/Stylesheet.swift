extension DashboardFile {
    static let style = DashboardFile(
        "/dashboard/style.css", "text/css; charset=utf-8",
        #"""
        :root {
          --page: #f6f7f9; --surface: #ffffff; --raised: #ffffff; --line: #e2e6ec; --line-strong: #c5ccd6;
          --text: #18202c; --quiet: #566173; --accent: #2556c9; --accent-soft: #e8eefc; --on-accent: #ffffff;
          --good: #19734a; --good-soft: #e3f4ec; --warn: #8a5a00; --warn-soft: #fdf1da; --bad: #b3261e; --bad-soft: #fdeae8;
          --use: #3f74e0; --use-soft: #3f74e038; --capacity: #18202c; --nominal: #7c8798; --shortage: #c4342b;
          --c0: #3f74e0; --c1: #12a08a; --c2: #e0913a; --c3: #8a63d2; --c4: #d1568b; --c5: #5d9b3c; --c6: #4aa3c7; --c7: #a6784c;
          --rest: #a9b2bf; --radius: 10px; --gap: 16px;
          --edge: #18202c52;
          --shadow: 0 1px 2px #10182810, 0 1px 3px #10182814;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0e1217; --surface: #161b23; --raised: #1c222c; --line: #262e3a; --line-strong: #3a4454;
            --text: #e7ebf1; --quiet: #9daabb; --accent: #86a9ff; --accent-soft: #1d2a47; --on-accent: #0e1217;
            --good: #5ac796; --good-soft: #14301f; --warn: #e3b04f; --warn-soft: #33280f; --bad: #ff8a80; --bad-soft: #3a1a18;
            --use: #6d98f7; --use-soft: #6d98f73d; --capacity: #e7ebf1; --nominal: #8391a5; --shortage: #ff8a80;
            --c0: #6d98f7; --c1: #3cc2ab; --c2: #eba75c; --c3: #ab8aea; --c4: #e87fac; --c5: #83bf63; --c6: #6fc0e0; --c7: #c49a6f;
            --rest: #5c6777; --shadow: none; --edge: #9daabb80;
          }
        }
        * { box-sizing: border-box; }
        html { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; background: var(--page); color: var(--text); -webkit-text-size-adjust: 100%; }
        body { margin: 0; font-variant-numeric: tabular-nums; }
        h1, h2, h3, p, figure, ul, ol, dl, dd { margin: 0; padding: 0; }
        h1 { font-size: 22px; line-height: 1.25; font-weight: 640; letter-spacing: -.01em; overflow-wrap: anywhere; }
        h2 { font-size: 15px; font-weight: 620; }
        h3 { font-size: 14px; font-weight: 600; }
        a { color: var(--accent); text-decoration: none; }
        a:hover { text-decoration: underline; }
        p a:not(.button), li a, h2 a { text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 3px; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
        code, .mono { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92em; }
        .hidden, .skip:not(:focus) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        .skip:focus { position: fixed; z-index: 9; top: 8px; left: 8px; background: var(--surface); padding: 8px 12px; border-radius: 6px; }
        .patterns { position: absolute; }
        .hatch-line { stroke: var(--shortage); stroke-width: 2.4; }
        [hidden] { display: none !important; }
        :is(main, .stack, form) > :is(div, p):empty { display: none; }
        .quiet { color: var(--quiet); }
        .nowrap { white-space: nowrap; }
        .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }

        /* The frame */
        .frame { display: grid; grid-template-columns: 208px minmax(0, 1fr); min-height: 100vh; }
        .side { border-right: 1px solid var(--line); background: var(--surface); padding: 16px 12px; position: sticky; top: 0; height: 100vh; display: flex; flex-direction: column; gap: 16px; }
        .brand { display: flex; align-items: center; gap: 10px; font-weight: 660; font-size: 16px; color: var(--text); padding: 0 8px; }
        .brand img { width: 24px; height: 24px; display: block; }
        .brand:hover { text-decoration: none; }
        .nav { display: flex; flex-direction: column; gap: 2px; }
        .nav a { display: flex; justify-content: space-between; align-items: center; color: var(--quiet); padding: 7px 10px; border-radius: 7px; font-weight: 520; }
        .nav a:hover { background: var(--page); text-decoration: none; color: var(--text); }
        .nav a[aria-current] { background: var(--accent-soft); color: var(--accent); }
        .count { font-size: 12px; line-height: 18px; min-width: 20px; padding: 0 6px; text-align: center; border-radius: 9px; background: var(--warn-soft); color: var(--warn); font-weight: 620; }
        .who { margin-top: auto; font-size: 13px; padding: 0 8px; display: grid; gap: 4px; color: var(--quiet); overflow-wrap: anywhere; }
        .who button { justify-self: start; padding: 0; border: 0; }
        .share + .quiet, .stack + .quiet { margin-top: 10px; }
        .bar { display: flex; align-items: center; gap: 8px; padding: 10px 24px; border-bottom: 1px solid var(--line); background: var(--surface); position: sticky; top: 0; z-index: 5; min-height: 53px; }
        .bar .spring { flex: 1; }
        .pulse { display: inline-flex; align-items: center; gap: 8px; color: var(--quiet); font-size: 13px; min-width: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
        .pulse::before { content: ""; flex: none; width: 8px; height: 8px; border-radius: 50%; background: var(--good); }
        .pulse[data-is="late"]::before { background: var(--bad); }
        main { padding: 24px; max-width: 1480px; display: grid; gap: 24px; grid-template-columns: minmax(0, 1fr); align-content: start; outline: none; }
        .banner { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; padding: 10px 24px; background: var(--warn-soft); color: var(--warn); border-bottom: 1px solid var(--line); font-weight: 560; }
        .banner[data-is="bad"] { background: var(--bad-soft); color: var(--bad); }
        .banner .spring { flex: 1; }

        /* Pieces */
        .head { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: flex-end; justify-content: space-between; }
        .head p { color: var(--quiet); margin-top: 4px; }
        .row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
        .stack { display: grid; gap: var(--gap); grid-template-columns: minmax(0, 1fr); align-content: start; }
        .tight { gap: 8px; }
        .card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: 16px; box-shadow: var(--shadow); min-width: 0; }
        .card > header { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; justify-content: space-between; margin-bottom: 12px; }
        .card.stack > header { margin-bottom: 0; }
        .grid { display: grid; gap: var(--gap); grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); }
        .thirds { display: grid; gap: var(--gap); grid-template-columns: repeat(auto-fit, minmax(min(100%, 260px), 1fr)); align-items: start; }
        .halves { display: grid; gap: var(--gap); grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); align-items: start; }
        .pairs { display: grid; gap: var(--gap); grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); align-items: start; }
        .wide-left { display: grid; gap: var(--gap); grid-template-columns: minmax(0, 2fr) minmax(280px, 1fr); align-items: start; }
        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; box-shadow: var(--shadow); }
        .figure { padding: 12px 14px; box-shadow: 1px 0 0 var(--line), 0 1px 0 var(--line); min-width: 0; }
        .figure dt { color: var(--quiet); font-size: 13px; }
        .figure dd { font-size: 20px; font-weight: 600; letter-spacing: -.01em; line-height: 1.3; overflow-wrap: anywhere; }
        .figure dd small { font-size: 13px; font-weight: 460; color: var(--quiet); letter-spacing: 0; margin-left: 4px; display: inline-block; }
        .figure dd a { color: inherit; text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 3px; }
        .figure dd.note { font-weight: 460; letter-spacing: 0; line-height: 1.45; font-size: 12.5px; color: var(--quiet); }
        .verdict { display: flex; gap: 14px; align-items: center; padding: 18px 20px; border-radius: var(--radius); background: var(--good-soft); border: 1px solid transparent; }
        .verdict[data-is="warn"] { background: var(--warn-soft); } .verdict[data-is="bad"] { background: var(--bad-soft); }
        .verdict h1 { color: var(--good); } .verdict[data-is="warn"] h1 { color: var(--warn); } .verdict[data-is="bad"] h1 { color: var(--bad); }
        .verdict p { color: var(--text); margin-top: 2px; }
        .chip { display: inline-flex; align-items: center; gap: 5px; padding: 1px 8px; border-radius: 999px; font-size: 12.5px; font-weight: 560; background: var(--page); color: var(--quiet); border: 1px solid var(--line); white-space: nowrap; }
        .chip[data-is="good"] { background: var(--good-soft); color: var(--good); border-color: transparent; }
        .chip[data-is="warn"] { background: var(--warn-soft); color: var(--warn); border-color: transparent; }
        .chip[data-is="bad"] { background: var(--bad-soft); color: var(--bad); border-color: transparent; }
        .empty { color: var(--quiet); padding: 16px 4px; text-align: center; max-width: 62ch; margin: 0 auto; }
        .empty code { overflow-wrap: anywhere; }
        .sentences { display: grid; gap: 8px; padding-left: 18px; max-width: 84ch; }
        .events { list-style: none; display: grid; gap: 6px; }
        .events.lifted { margin-bottom: 14px; }
        .events li { display: grid; grid-template-columns: auto auto minmax(0, 1fr); gap: 10px; align-items: baseline; }
        .events time { color: var(--quiet); font-size: 13px; }
        .share { display: grid; grid-template-columns: minmax(min-content, 1fr) fit-content(70%); gap: 2px 12px; }
        .share > :nth-child(2) { text-align: right; }
        .meter { grid-column: 1 / -1; height: 8px; border-radius: 4px; background: var(--line); overflow: hidden; position: relative; }
        .meter i { position: absolute; inset: 0 auto 0 0; width: var(--part, 0%); background: var(--tone, var(--use)); border-radius: 4px; }
        .meter b { position: absolute; top: 0; bottom: 0; left: var(--mark, 0%); width: 2px; background: var(--text); }

        .levels { display: flex; flex-wrap: wrap; gap: 8px 40px; }
        .levels dt { color: var(--quiet); font-size: 13px; }
        .levels dd { font-weight: 600; }
        .levels .quiet { font-weight: 420; font-size: 13px; }
        textarea.mono { font-size: 12.5px; line-height: 1.45; white-space: pre; overflow: auto; tab-size: 2; }
        textarea.tall { min-height: 320px; }
        .bars { list-style: none; display: flex; gap: 3px; align-items: stretch; height: 150px; }
        .bars li { flex: 1; min-width: 0; display: flex; flex-direction: column; justify-content: flex-end; }
        .bars i { display: block; flex: 0 0 calc((100% - 20px) * var(--height, 0)); background: var(--use); border-radius: 3px 3px 0 0; min-height: 1px; }
        .bars small { height: 20px; font-size: 11px; color: var(--quiet); white-space: nowrap; overflow: visible; }
        .clip { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .below { margin-top: 10px; }

        /* Controls */
        button, .button, select, input, textarea { font: inherit; color: inherit; }
        button, .button { border: 1px solid var(--line-strong); background: var(--raised); color: var(--text); border-radius: 7px; padding: 5px 12px; cursor: pointer; font-weight: 540; white-space: nowrap; display: inline-block; }
        button:hover, .button:hover { border-color: var(--quiet); text-decoration: none; }
        button.first { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        button.danger { color: var(--bad); }
        button.chosen-one { background: var(--accent-soft); border-color: var(--accent); color: var(--accent); }
        button.copy { font-size: 12px; padding: 0 4px; color: var(--quiet); }
        button.plain { border-color: transparent; background: none; color: var(--accent); padding: 5px 6px; }
        button[disabled] { opacity: .55; cursor: default; }
        input, select, textarea { border: 1px solid var(--line-strong); border-radius: 7px; background: var(--raised); padding: 6px 10px; width: 100%; min-width: 0; }
        textarea { min-height: 72px; resize: vertical; }
        .bar select { width: auto; }
        input[type="search"] { min-width: 210px; }
        label { display: grid; gap: 4px; font-weight: 540; }
        label small { font-weight: 420; color: var(--quiet); }
        form { display: grid; gap: 14px; }
        .fields { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
        .problem { color: var(--bad); background: var(--bad-soft); border-radius: 7px; padding: 8px 12px; overflow-wrap: anywhere; }
        .done { color: var(--good); background: var(--good-soft); border-radius: 7px; padding: 8px 12px; overflow-wrap: anywhere; }
        dialog { border: 1px solid var(--line); border-radius: 12px; background: var(--surface); color: var(--text); padding: 20px; width: min(520px, calc(100vw - 32px)); box-shadow: 0 12px 40px #0006; }
        dialog::backdrop { background: #0007; }
        dialog h2 { margin-bottom: 12px; font-size: 17px; }
        .signin { max-width: 420px; margin: 12vh auto 0; padding: 0 16px; }

        /* Tables */
        /* Where there is more to the side, its edge is dark: shades that stay, under covers that scroll away with the table. */
        .scroll { overflow-x: auto; margin: 0 -16px -16px; border-top: 1px solid var(--line); border-radius: 0 0 var(--radius) var(--radius); background:
          linear-gradient(to right, var(--surface) 40%, transparent) left / 48px 100% no-repeat local,
          linear-gradient(to left, var(--surface) 40%, transparent) right / 48px 100% no-repeat local,
          linear-gradient(to right, var(--edge), transparent) left / 18px 100% no-repeat scroll,
          linear-gradient(to left, var(--edge), transparent) right / 18px 100% no-repeat scroll; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; padding: 8px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
        th:first-child, td:first-child { padding-left: 16px; } th:last-child, td:last-child { padding-right: 16px; }
        tbody tr:last-child td { border-bottom: 0; }
        th { font-weight: 560; color: var(--quiet); font-size: 13px; white-space: nowrap; }
        th button { border: 0; background: none; padding: 0; color: inherit; font-weight: inherit; }
        td.number, th.number { text-align: right; white-space: nowrap; }
        td.name { min-width: 104px; max-width: 340px; overflow-wrap: anywhere; }
        td.wide { min-width: 220px; overflow-wrap: anywhere; }
        tbody tr:hover td { background: color-mix(in srgb, var(--page) 60%, transparent); }

        /* Plots */
        .plot { display: grid; gap: 6px; min-width: 0; grid-template-columns: minmax(0, 1fr); }
        .plot figcaption { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13px; align-items: baseline; }
        .plot figcaption h3 { margin-right: 4px; }
        .plot .moment { color: var(--quiet); margin-left: auto; font-size: 12.5px; }
        .plot .moment:empty { display: none; }
        .plot .moment:empty + .copy, .card > header > .row { margin-left: auto; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 12.5px; color: var(--quiet); }
        .legend li { display: inline-flex; align-items: center; gap: 6px; max-width: 100%; }
        .legend .label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 190px; color: inherit; }
        .legend .value { color: var(--text); font-weight: 540; min-width: 4.2ch; }
        .key { flex: none; width: 12px; height: 10px; border-radius: 2px; background: var(--tone); }
        .key.line { height: 0; border-top: 2px solid var(--tone); border-radius: 0; background: none; }
        .key.dash { width: 16px; height: 0; border-top: 2px dashed var(--tone); border-radius: 0; background: none; }
        .key.gap { background: repeating-linear-gradient(135deg, var(--shortage) 0 2px, transparent 2px 4px); }
        .canvas { position: relative; border-radius: 4px; touch-action: pan-y; cursor: crosshair; }
        .canvas > svg { display: block; width: 100%; overflow: visible; }
        .canvas text { fill: var(--quiet); font-size: 11px; font-variant-numeric: tabular-nums; }
        .grid-line { stroke: var(--line); stroke-width: 1; }
        .axis-line { stroke: var(--line-strong); stroke-width: 1; }
        .mark-line { fill: none; stroke: var(--tone); stroke-width: 1.75; stroke-linejoin: round; }
        .mark-line.dash { stroke-dasharray: 5 4; stroke-width: 1.4; }
        .mark-line.thin { stroke-width: 1.2; opacity: .75; }
        .mark-area { fill: var(--tone); fill-opacity: .78; }
        .mark-area.soft { fill-opacity: .22; }
        .mark-gap { fill: url(#hatch); opacity: .5; }
        .mark-event { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 2 3; }
        .mark-event-flag { fill: var(--quiet); }
        .mark-event[data-kind="act"] { stroke: var(--accent); } .mark-event-flag[data-kind="act"] { fill: var(--accent); }
        .mark-event[data-kind="starved"], .mark-event[data-kind="capacity"] { stroke: var(--warn); }
        .mark-event-flag[data-kind="starved"], .mark-event-flag[data-kind="capacity"] { fill: var(--warn); }
        .crosshair { stroke: var(--text); stroke-width: 1; opacity: .55; }
        .chosen { fill: var(--accent); fill-opacity: .14; stroke: var(--accent); stroke-opacity: .5; }
        .no-data { fill: var(--quiet); }

        /* Side by side */
        .versus { display: grid; gap: 12px 24px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); }
        .pair { display: grid; grid-template-columns: 72px minmax(0, 1fr) 92px; gap: 3px 10px; align-items: center; font-size: 13px; }
        .pair .meter { grid-column: auto; }
        .pair .number { text-align: right; }

        @media (max-width: 860px) {
          .frame { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; }
          .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 10px 12px; gap: 8px; flex-direction: row; flex-wrap: wrap; align-items: center; }
          .brand { padding: 0; }
          .nav { order: 3; flex-direction: row; flex-wrap: wrap; width: 100%; gap: 2px 0; }
          .nav a { white-space: nowrap; padding: 5px 9px; }
          .nav a .count { margin-left: 6px; }
          .who { margin: 0 0 0 auto; padding: 0; grid-auto-flow: column; align-items: center; gap: 8px; }
          .who .role { display: none; }
          .bar { padding: 8px 12px; flex-wrap: wrap; position: static; }
          .banner { padding: 10px 12px; }
          main { padding: 16px 12px 32px; gap: 16px; }
          .wide-left { grid-template-columns: minmax(0, 1fr); }
          .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
          .verdict { padding: 14px 16px; }
          h1 { font-size: 20px; }
          .legend .label { max-width: 130px; }
        }
        """#)
}
