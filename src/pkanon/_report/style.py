"""The look of a report: one style sheet, for a desk, a phone and paper.

Levels differ in lightness and carry a letter, so that they can be told apart in greyscale. Fonts are those of the reader's
machine; nothing is loaded from anywhere.
"""

STYLE = """
:root { color-scheme: light; --ink: #1b1f24; --pale: #5a6470; --line: #c9d0d8; --soft: #f3f5f8; --accent: #17406d;
  --good: #17406d; --fair: #6d97c2; --poor: #cfdeed; --void: #8c1d18; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: #fff; color: var(--ink); line-height: 1.5; overflow-wrap: break-word;
  font-family: "Source Sans 3", "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif; font-size: 1rem; }
main, header, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
h1, h2, h3 { font-family: "Source Serif 4", Georgia, "Times New Roman", "Liberation Serif", serif; font-weight: 600;
  line-height: 1.2; color: var(--accent); break-after: avoid; }
h1 { font-size: 1.9rem; margin: 0.15rem 0 0.3rem; }
h2 { font-size: 1.4rem; margin: 2.6rem 0 0.8rem; padding-top: 0.7rem; border-top: 2px solid var(--accent); }
h3 { font-size: 1.08rem; margin: 1.6rem 0 0.5rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
ul, ol { margin: 0.5rem 0; padding-left: 1.3rem; max-width: 46rem; }
li { margin: 0.2rem 0; }
a { color: var(--accent); }
header { padding-top: 1.2rem; }
.office { font-size: 0.95rem; color: var(--ink); font-weight: 600; margin: 0; }
.edition { color: var(--pale); margin: 0 0 0.8rem; font-size: 0.95rem; max-width: none; }
.date { white-space: nowrap; }
.small, caption, figcaption { font-size: 0.875rem; color: var(--pale); }
.mark { border: 2px solid var(--void); color: var(--void); font-weight: 700; padding: 0.45rem 0.8rem; margin: 0.7rem 0; max-width: none; }
.void { border: 2px solid var(--void); padding: 0.2rem 1rem 0.6rem; margin: 0.8rem 0; }
.void h2 { border: 0; margin: 0.5rem 0 0.3rem; padding: 0; color: var(--void); }
.answers { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.9rem; margin: 0.6rem 0 1rem; padding: 0; }
.answer { border: 1px solid var(--line); border-top: 4px solid var(--accent); padding: 0.55rem 0.9rem 0.7rem; break-inside: avoid; }
.answer.wide { grid-column: 1 / -1; }
.answer.wide p, .void p { max-width: none; }
.answer.stop { border-top-color: var(--void); }
.answer h2 { font-size: 0.95rem; border: 0; margin: 0; padding: 0; color: var(--pale); font-family: inherit; }
.answer p, .answer ul { margin: 0.3rem 0; }
.answer ul { padding-left: 1.1rem; font-size: 0.925rem; }
.answer li { margin: 0.1rem 0; }
.answer .lead { font-weight: 600; font-size: 1.06rem; line-height: 1.35; }
.answer.stop .lead { color: var(--void); }
.answer .more { font-size: 0.925rem; }
nav { background: var(--soft); padding: 0.6rem 1rem 0.7rem; margin: 1rem 0; break-inside: avoid; }
nav h2 { font-size: 1rem; border: 0; margin: 0; padding: 0; }
nav ol { columns: 2; column-gap: 2rem; margin: 0.3rem 0 0; max-width: none; }
nav li { break-inside: avoid; margin: 0; padding: 0.15rem 0; }
nav a { text-decoration: none; }
nav a:hover, nav a:focus { text-decoration: underline; }
.scroll { overflow-x: auto; margin: 0.7rem 0; background:
  linear-gradient(to right, #fff 40%, transparent) 0 0 / 2.5rem 100% no-repeat local,
  linear-gradient(to left, #fff 40%, transparent) 100% 0 / 2.5rem 100% no-repeat local,
  linear-gradient(to right, rgb(23 64 109 / 45%), transparent) 0 0 / 0.8rem 100% no-repeat scroll,
  linear-gradient(to left, rgb(23 64 109 / 45%), transparent) 100% 0 / 0.8rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: 0.925rem; min-width: 50%; }
caption { text-align: left; padding: 0 0 0.3rem; }
th, td { text-align: left; vertical-align: top; padding: 0.28rem 0.8rem 0.28rem 0; border-bottom: 1px solid var(--line); font-weight: 400; }
thead th { border-bottom: 2px solid var(--ink); font-weight: 600; vertical-align: bottom; }
thead { display: table-header-group; }
tbody th { font-weight: 600; }
tr { break-inside: avoid; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.n, th.n { padding-left: 0.5rem; }
pre { background: var(--soft); border-left: 3px solid var(--accent); padding: 0.6rem 0.9rem; overflow-x: auto; font-size: 0.84rem;
  line-height: 1.45; margin: 0.6rem 0; }
code, .digest { font-family: "Source Code Pro", Consolas, Menlo, "Liberation Mono", monospace; }
.digest { font-size: 0.8rem; overflow-wrap: anywhere; white-space: normal; }
.key { display: inline-block; width: 0.85em; height: 0.85em; margin: 0 0.3em 0 0; vertical-align: -0.08em; border: 1px solid #7d8a97; }
.key.good { background: var(--good); } .key.fair { background: var(--fair); } .key.poor { background: var(--poor); }
.keys > span { margin-right: 1.1em; white-space: nowrap; }
.levels { font-size: 0.875rem; display: flex; flex-wrap: wrap; gap: 0 0.5rem; justify-content: space-between; }
.levels .keys > span { margin: 0 0 0 0.8em; }
.answer p.levels { margin: 0.35rem 0 0.1rem; }
svg { display: block; max-width: 100%; }
svg text { font-family: inherit; fill: var(--ink); }
svg .good { fill: var(--good); } svg .fair { fill: var(--fair); } svg .poor { fill: var(--poor); }
svg .unreadable { fill: #fff; stroke: #9aa5b1; stroke-width: 0.6; vector-effect: non-scaling-stroke; }
.values { overflow-wrap: anywhere; }
td:has(> .values) { min-width: 14rem; }
svg text.on-good { fill: #fff; } svg text.faint { fill: var(--pale); }
table.bars { width: 100%; table-layout: fixed; }
table.bars th:first-child { width: 27%; }
table.bars th:nth-child(2) { width: 34%; }
table.bars th:nth-child(3) { width: 9%; }
table.bars th:nth-child(4) { width: 30%; }
table.bars td.n { white-space: normal; }
table.bars td.n span { white-space: nowrap; }
table.bars td, table.bars tbody th { border-bottom-color: #e6eaee; padding-top: 0.16rem; padding-bottom: 0.16rem; vertical-align: middle; }
table.bars tbody th { font-weight: 400; overflow-wrap: anywhere; }
table.bars svg { width: 100%; height: 1.15rem; }
.bar { fill: var(--fair); } .rest .bar { fill: #c3c9d0; }
.whisker { stroke: #10243a; stroke-width: 1.4; vector-effect: non-scaling-stroke; fill: none; }
.zero { stroke: #6b7682; stroke-width: 1; vector-effect: non-scaling-stroke; }
.ten { stroke: #d5dbe2; stroke-width: 1; vector-effect: non-scaling-stroke; }
.mark-share { fill: #2f6db3; }
.limit { stroke: var(--void); stroke-width: 1.6; stroke-dasharray: 3 2; vector-effect: non-scaling-stroke; }
figure { margin: 0.6rem 0 1.4rem; }
.sign { display: grid; grid-template-columns: 1fr 1fr; gap: 2.4rem 2.5rem; margin: 3.4rem 0 1.2rem; break-inside: avoid; }
.sign div { border-top: 1px solid var(--ink); padding-top: 0.25rem; font-size: 0.875rem; color: var(--pale); }
.check, .answer .check { list-style: none; padding-left: 0; }
.check li { padding-left: 1.5rem; text-indent: -1.5rem; }
.check li::before { content: "\\2610"; display: inline-block; width: 1.5rem; text-indent: 0; }
footer { color: var(--pale); font-size: 0.875rem; border-top: 1px solid var(--line); margin-top: 3rem;
  padding-top: 0.7rem; padding-bottom: 2rem; }
.paper, .answers .brief { display: none; }
@media screen and (max-width: 40rem) {
  .answers .brief { display: block; list-style: none; padding: 0.45rem 0.7rem; margin: 0; background: var(--soft);
    font-size: 0.88rem; line-height: 1.35; }
}
@media (max-width: 40rem) {
  body { font-size: 0.97rem; }
  main, header, footer { padding: 0 0.9rem; }
  header { padding-top: 0.7rem; }
  h1 { font-size: 1.3rem; margin-top: 0; }
  .edition { margin-bottom: 0.4rem; font-size: 0.85rem; }
  h2 { font-size: 1.2rem; }
  .answers { grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
  .answer { padding: 0.35rem 0.7rem 0.4rem; }
  .answer .lead { font-size: 0.97rem; line-height: 1.3; }
  .answer .more, .answer ul { font-size: 0.86rem; line-height: 1.3; }
  .answer p, .answer ul, .answer li { margin: 0.15rem 0; }
  .aside, .answer li:has(> .aside:only-child) { display: none; }
  nav ol { columns: 1; }
  thead th.n { white-space: normal; }
  .scroll tbody th { min-width: 6.5rem; }
  .sign { grid-template-columns: 1fr; }
  table.bars th:nth-child(3), table.bars td:nth-child(3) { display: none; }
  table.bars th:first-child { width: 30%; }
  table.bars th:nth-child(2) { width: 27%; }
  table.bars th:nth-child(4) { width: 43%; }
  table.bars td.n span { display: block; font-size: 0.76rem; }
  table.bars th, table.bars td { padding-right: 0.3rem; }
}
@page { size: A4; margin: 18mm 16mm 18mm; }
@media print {
  html { font-size: 9.5pt; }
  body { line-height: 1.4; }
  main, header, footer { max-width: none; padding: 0; }
  h1 { font-size: 18pt; } h2 { font-size: 13pt; margin-top: 1.6rem; } h3 { font-size: 10.5pt; }
  a { color: inherit; text-decoration: none; }
  .scroll { overflow: visible; background: none; }
  pre { white-space: pre-wrap; break-inside: avoid; }
  .digest { white-space: nowrap; font-size: 7pt; }
  h2, h3, thead { break-after: avoid; }
  section > h2 + *, h3 + * { break-before: avoid; }
  p { break-inside: avoid; }
  footer { break-before: avoid; margin-top: 1rem; padding-bottom: 0; }
  .short { break-inside: avoid; }
  p:has(+ pre), p:has(+ .scroll) { break-after: avoid; }
  .scroll { margin: 0.5rem 0; }
  figure, .answer, .void, .check { break-inside: avoid; }
  figure.long { break-inside: auto; }
  .key, svg, .answer, nav, pre { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  p, ul, ol { max-width: none; }
  p, li { orphans: 3; widows: 3; }
  .paper { display: block; position: fixed; top: 45%; left: 0; right: 0; text-align: center; font-size: 64pt; font-weight: 700;
    letter-spacing: 0.1em; color: #f1dcdb; transform: rotate(-32deg); z-index: -1; }
}
"""


def page_lines(top: str, bottom: str) -> str:
    """What stands in the margins of every printed page; the texts are our own."""
    size = "font-family: sans-serif; font-size: 8pt;"
    return (
        f'@page {{ @top-left {{ content: "{top}"; {size} color: #8c1d18; font-weight: 700; }} '
        f'@bottom-left {{ content: "{bottom}"; {size} color: #5a6470; }} '
        f'@bottom-right {{ content: counter(page) " / " counter(pages); {size} color: #5a6470; }} }}\n'
    )
