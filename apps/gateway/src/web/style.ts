import { createHash } from 'node:crypto';

/** The only stylesheet. System fonts, light and dark by the setting of the reader, phones and print. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1d1f24;--soft:#5a6070;--line:#d9dce3;--paper:#fff;--panel:#f6f7f9;--link:#0b5cad;--good:#116329;--bad:#a40e26;--add:#e6f6e9;--del:#fdeaec}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ee;--soft:#a6adbb;--line:#3a404d;--paper:#16181d;--panel:#1f232b;--link:#7ab7ff;--good:#6fdc8c;--bad:#ff8b95;--add:#12331c;--del:#411a20}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--link)}
a:focus-visible,button:focus-visible,input:focus-visible,textarea:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:.5rem}
header.site{border-bottom:1px solid var(--line);background:var(--panel)}
header.site>div,main,footer{max-width:60rem;margin:0 auto;padding:.75rem 1rem}
header.site>div{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center}
header.site strong a{color:var(--ink);text-decoration:none}
header.site nav{display:flex;gap:1rem;flex-wrap:wrap;flex:1}
h1{font-size:1.5rem;line-height:1.25;margin:.75rem 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:1.75rem 0 .5rem}
.soft{color:var(--soft)}
.crumbs,.facts{color:var(--soft);font-size:.9rem;margin:0}
.state{display:inline-block;border:1px solid currentColor;border-radius:1rem;padding:0 .6rem;font-size:.85rem}
.state.opened{color:var(--good)}.state.closed{color:var(--bad)}
.label{display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:0 .6rem;font-size:.85rem;background:var(--panel)}
.text{overflow-wrap:anywhere}.text>:first-child{margin-top:0}.text>:last-child{margin-bottom:0}
.text table{border-collapse:collapse}.text td,.text th{border:1px solid var(--line);padding:.25rem .5rem}
blockquote{margin-left:0;padding-left:1rem;border-left:4px solid var(--line);color:var(--soft)}
article.note{border:1px solid var(--line);border-radius:.5rem;margin:.75rem 0;padding:.75rem 1rem}
article.note>header{font-size:.9rem;color:var(--soft);margin-bottom:.5rem}
article.note.reply{margin-left:1.5rem}
p.system{color:var(--soft);font-size:.9rem;margin:.4rem 0}
pre,code{font:.875rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{overflow-x:auto;background:var(--panel);border:1px solid var(--line);border-radius:.4rem;padding:.6rem .8rem}
.diff{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0;overflow:hidden}
.diff>h3{margin:0;font-size:.9rem;padding:.5rem .8rem;background:var(--panel);border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.diff pre{margin:0;border:0;border-radius:0;padding:0;background:none}
.diff code span{display:block;padding:0 .8rem;min-height:1.45em;white-space:pre}
.diff .add{background:var(--add)}.diff .del{background:var(--del)}.diff .at{color:var(--soft);background:var(--panel)}
ul.list{list-style:none;padding:0;margin:.5rem 0}ul.list>li{border-top:1px solid var(--line);padding:.6rem 0;overflow-wrap:anywhere}
ul.list form{display:inline}
table.files{width:100%;border-collapse:collapse}table.files td{border-top:1px solid var(--line);padding:.4rem 0}
dl.facts-list{display:grid;grid-template-columns:minmax(8rem,auto) 1fr;gap:.3rem 1rem}dl.facts-list dt{color:var(--soft)}dl.facts-list dd{margin:0;overflow-wrap:anywhere}
textarea,input[type=text],input[type=password]{width:100%;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:.4rem;padding:.5rem}
table.counts{border-collapse:collapse}table.counts td,table.counts th{border:1px solid var(--line);padding:.3rem .8rem;text-align:left}
fieldset{border:1px solid var(--line);border-radius:.4rem;margin:1rem 0}p.choice{margin:.25rem 0}
summary{overflow-wrap:anywhere}
textarea{min-height:7rem}
button{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--soft);border-radius:.4rem;padding:.35rem .9rem;cursor:pointer}
button.main{background:var(--link);border-color:var(--link);color:var(--paper)}
.banner,.problem,.notice{border:1px solid var(--line);border-radius:.4rem;padding:.6rem 1rem;margin:.75rem 0;background:var(--panel)}
.problem{border-color:var(--bad)}
nav.pages{display:flex;gap:1rem;margin:1rem 0}
footer{color:var(--soft);font-size:.85rem;border-top:1px solid var(--line);margin-top:2rem}
@media(max-width:40rem){header.site nav{order:1;flex-basis:100%}header.site>div>form,header.site>div>a{margin-left:auto}}
@media print{header.site nav,form,nav.pages,footer{display:none}}
`;

/** Path of the stylesheet. It changes with its content, so that browsers may keep it for ever. */
export const STYLE_PATH = `/-/assets/${createHash('sha256').update(STYLE).digest('hex').slice(0, 16)}.css`;
