import { createHash } from 'node:crypto';
import { escapeHtml } from '@rookery/kernel';
import type { FastifyReply } from 'fastify';
import type { WebPage } from './answers';
import { commonHeaders } from './reply';
import type { ReplyFacts } from './reply';

const STYLE = `
:root { color-scheme: light dark }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 12vh auto; padding: 0 1.25rem }
h1 { font-size: 1.5rem; line-height: 1.25 }
p { overflow-wrap: anywhere }
button { font: inherit; padding: .5rem 1.25rem; border: 0; border-radius: .375rem; background: #1f5fbf; color: #fff; cursor: pointer }
button:focus-visible { outline: 3px solid #8ab4f8; outline-offset: 2px }
`;

/**
 * The page loads and runs nothing, sends forms only to this server, and cannot be framed. HEADERS hides its address
 * from other sites.
 */
const POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  `form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
const HEADERS = [
  ...['content-type', 'text/html; charset=utf-8', 'content-security-policy', POLICY],
  ...['referrer-policy', 'no-referrer', 'x-frame-options', 'DENY', 'x-robots-tag', 'noindex'],
];

/** Sends a page, or a redirect if `page` is a URL. Source: reference identity-and-import 10.5. */
export function writeWebPage(reply: FastifyReply, facts: ReplyFacts, page: WebPage | string): void {
  reply.hijack();
  const common = commonHeaders(facts, 'no-store');
  if (typeof page === 'string') {
    reply.raw.writeHead(302, [...common, 'location', page]);
    reply.raw.end();
    return;
  }
  const text = renderDocument(page);
  reply.raw.writeHead(page.status ?? 200, [...common, ...HEADERS, 'content-length', String(Buffer.byteLength(text))]);
  reply.raw.end(facts.isHead ? undefined : text);
}

function renderDocument({ title, html }: WebPage): string {
  const name = escapeHtml(title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${name}</h1>
${html}
</main>
</body>
</html>
`;
}
