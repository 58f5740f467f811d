import { escapeHtml } from '@rookery/kernel';

/** Contents of the HTML part of an e-mail. `title` and `place` are plain texts, `content` and `footer` HTML. */
export interface MailLayout {
  readonly title: string;
  /** Path of the project or group, or the host of the instance. */
  readonly place: string;
  readonly content: string;
  /** The page that the e-mail leads to. */
  readonly action: { readonly label: string; readonly url: string } | null;
  /** The reason for the e-mail, and links to end such e-mails. */
  readonly footer: string;
}

/**
 * Mail programs that ignore style sheets show plain paragraphs, which stay readable. Colors are those of the web pages;
 * both schemes have a contrast of at least 4.5 to 1.
 */
const STYLE = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:24px 12px;background:#f3f4f6;color:#1f2430;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;-webkit-text-size-adjust:100%}
.mail{max-width:640px;margin:0 auto}
.card{background:#fff;border:1px solid #dfe2e8;border-radius:8px;padding:20px 24px 24px}
.place{margin:0 0 12px;padding:0 0 12px;border-bottom:1px solid #dfe2e8;color:#5b6375;font-size:14px}
.card,.place,.footer{overflow-wrap:anywhere}
a{color:#1f5fbf}
p,ul,ol,pre,blockquote,table{margin:0 0 12px}
ul,ol{padding-left:24px}
h1,h2,h3,h4,h5,h6{margin:20px 0 8px;font-size:17px;line-height:1.3}
blockquote{padding-left:12px;border-left:3px solid #c9ced8;color:#5b6375}
code,pre{font:14px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:#f3f4f6;border-radius:4px}
code{padding:1px 4px}
pre{padding:10px 12px;white-space:pre-wrap}
pre code{padding:0;background:none}
table{border-collapse:collapse}
td,th{padding:4px 10px;border:1px solid #dfe2e8;text-align:left}
hr{border:0;border-top:1px solid #dfe2e8;margin:16px 0}
.action{margin:20px 0 0}
.action a{display:inline-block;padding:9px 18px;border-radius:6px;background:#1f5fbf;color:#fff;font-weight:600;text-decoration:none}
.footer{margin:14px 4px 0;color:#5b6375;font-size:13px}
.footer a{color:inherit}
@media (max-width:480px){body{padding:10px 8px}.card{padding:16px}}
@media (prefers-color-scheme:dark){
body{background:#14161b;color:#e6e8ee}
.card{background:#1d2027;border-color:#343944}
.place,hr{border-color:#343944}
.place,.footer,blockquote{color:#a4abba}
a{color:#8ab4f8}
blockquote{border-color:#4a5160}
code,pre{background:#282c35}
td,th{border-color:#343944}
.action a{background:#8ab4f8;color:#14161b}
}`
  .split('\n')
  .join('');

/** Renders the HTML part of an e-mail of any kind, without external resources. Source: reference work-tracking 8.5. */
export function htmlMail({ title, place, content, action, footer }: MailLayout): string {
  const button =
    action === null ? '' : `<p class="action"><a href="${escapeHtml(action.url)}">${escapeHtml(action.label)}</a></p>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><div class="mail"><div class="card"><p class="place">${escapeHtml(place)}</p>${content}${button}</div><p class="footer">${footer}</p></div></body></html>`;
}

/** Returns a link in HTML. */
export function linkHtml(url: string, text: string): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;
}

/** Returns the URL of a page of this instance. `path` is not encoded. */
export function urlOfPath(externalUrl: string, path: string): string {
  return `${externalUrl}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
