"""The report's style: one sheet, light and dark, for screens and paper; nothing is fetched."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--card:#f5f7fa;--ink:#16202c;--dim:#4a5868;
--line:#cfd7e0;--bar:#2f6fb5;--pale:#a9c6e6;--bad:#b3372c;--good:#1d6b41;--mark:#16202c;--tint:#e6f2ea}
@media (prefers-color-scheme:dark){:root{--ground:#11171e;--card:#1a222c;--ink:#e9eef4;--dim:#aab7c5;--line:#34404d;
--bar:#6aa7e8;--pale:#34557a;--bad:#f08a7e;--good:#7fd3a3;--mark:#e9eef4;--tint:#16291f}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,header,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.3rem;margin:2.4rem 0 .6rem;border-bottom:2px solid var(--line);padding-bottom:.25rem}
h3{font-size:1.05rem;margin:0}
p{margin:.4rem 0}
.dim,figcaption,dt,footer{color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.8rem;margin:1.2rem 0;padding:0}
.cards div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.7rem .9rem}
.cards dt{font-size:.85rem}
.cards dd{margin:0;font-size:1.55rem;font-weight:650;line-height:1.25}
.cards dd small{display:block;font-size:.8rem;font-weight:400;color:var(--dim)}
ol.findings{list-style:none;margin:0;padding:0;counter-reset:place}
ol.findings>li{counter-increment:place;border:1px solid var(--line);border-radius:.5rem;padding:.9rem 1.1rem;
margin:.8rem 0;background:var(--card);break-inside:avoid}
ol.findings h3::before{content:counter(place) ". "}
.cost{color:var(--bad);font-weight:600}
.change{background:var(--tint);border-left:4px solid var(--good);padding:.5rem .8rem;
margin:.6rem 0 .3rem;border-radius:.2rem}
.change b{color:var(--good)}
summary{cursor:pointer;color:var(--dim)}
code{font:.82rem/1.6 ui-monospace,Consolas,monospace;overflow-wrap:anywhere}
figure{margin:1rem 0 1.6rem;break-inside:avoid}
figure svg{width:100%;height:auto;display:block}
figcaption{font-size:.9rem;margin-top:.3rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.6rem 0}
th,td{text-align:right;padding:.3rem .6rem;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left}
thead th{color:var(--dim);font-weight:600}
caption{text-align:left;color:var(--dim);padding:.2rem 0}
svg text{fill:var(--ink);font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
svg .dim{fill:var(--dim)}
svg .bar{fill:var(--bar)}
svg .pale{fill:var(--pale)}
svg .bad{fill:var(--bad)}
svg .axis{stroke:var(--line);stroke-width:1}
svg .mark{stroke:var(--mark);stroke-width:2}
svg .even{stroke:var(--good);stroke-width:2;stroke-dasharray:5 4;fill:none}
svg .curve{stroke:var(--bad);stroke-width:2.5;fill:none}
svg .cut{stroke:var(--bad);stroke-width:2;stroke-dasharray:4 4}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1.2rem}
.none{border:1px solid var(--line);border-left:4px solid var(--good);padding:.8rem 1rem;border-radius:.3rem}
@media print{body{font-size:11pt}header,main,footer{max-width:none;padding:0}details>*{display:revert}a{color:inherit}
h2{break-after:avoid}}
"""
