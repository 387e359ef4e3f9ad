"""How the page of a report looks."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root{--paper:#fff;--ink:#1b2430;--quiet:#5a6675;--line:#dde3ea;--track:#eceff3;--before:#9aa5b1;--after:#2563b8;
--danger:#c2410c;--good:#166534;--bad:#b42318;--warn:#fff6e0;--warnline:#d9a21b}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e6eaf0;--quiet:#9aa7b6;--line:#2b333e;--track:#232a33;
--before:#77828f;--after:#6aa8f7;--danger:#f08a4b;--good:#5fd08a;--bad:#ff8a7a;--warn:#2b2410;--warnline:#c9971f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:56rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.7rem;margin:.2rem 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:0 0 .6rem}
h3{font-size:1rem;margin:0 0 .2rem}
section{margin-top:2rem;padding-top:1.2rem;border-top:1px solid var(--line)}
small,.quiet,footer{color:var(--quiet);font-weight:400}
.quiet{margin:.2rem 0 .6rem;font-size:.9rem}
.warning{background:var(--warn);border-left:4px solid var(--warnline);padding:.7rem .9rem;margin:0 0 1rem}
.headline{font-size:1.1rem;margin:0 0 .4rem}
.scroll{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th{text-align:left;color:var(--quiet);font-weight:500;padding:.25rem .7rem .25rem 0}
td{padding:.3rem .7rem .3rem 0;border-top:1px solid var(--line);vertical-align:middle}
td:has(svg){width:45%;min-width:5rem}td:has(svg)~td{white-space:nowrap}
.meter{display:block;width:100%;height:10px;margin:4px 0}
.pair .meter{height:8px;margin:3px 0}
.track{fill:var(--track)}
rect.before{fill:var(--before)}rect.after{fill:var(--after)}rect.danger{fill:var(--danger)}
.key{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;margin:0 .3rem 0 .8rem;vertical-align:-1px}
.key.before{background:var(--before)}.key.after{background:var(--after)}
.legend{font-size:.85rem;color:var(--quiet);margin:.2rem 0}.legend .key:first-child{margin-left:0}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.2rem}
figure{margin:0;min-width:0}figcaption{font-weight:600;overflow-wrap:anywhere}
.columns svg{display:block;width:100%;height:7rem;border-bottom:1px solid var(--line)}
.ends{display:flex;justify-content:space-between;gap:1rem;font-size:.78rem;color:var(--quiet)}
.ends span{overflow-wrap:anywhere;max-width:48%}.ends span:last-child{text-align:right}
.dangers{list-style:none;margin:0;padding:0}.dangers li{margin:0 0 1.1rem}.dangers p{margin:.1rem 0 0}
summary{cursor:pointer;color:var(--quiet)}
pre{background:var(--track);padding:.7rem .9rem;border-radius:4px;white-space:pre-wrap;
overflow-wrap:anywhere;font-size:.85rem}
footer{margin-top:2.5rem;font-size:.85rem}
"""
