import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { html } from 'hono/html';
import { ASYNCAPI_FILE } from '../routes/committed';
import { STYLE_PATH } from '../web/style';
import { DOCS_SCRIPT } from './docs-script';
import { eventDocs } from './event-docs';
import type { AsyncApiDocument } from './event-docs';

const ASSETS = dirname(require.resolve('swagger-ui-dist/package.json'));
/** Files of the page of the API. */
const FILES: Readonly<Record<string, { readonly type: string; readonly text?: string }>> = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8' },
  'start.js': { type: 'text/javascript; charset=utf-8', text: DOCS_SCRIPT },
};
/** Swagger UI sets styles of elements. Scripts are its own alone, and requests go to this instance alone. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PLAIN_POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HTML = 'text/html; charset=utf-8';
/** Units: seconds. */
const KEPT_FOR = 3600;

const apiDocs = html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width,initial-scale=1" />
      <title>API · Rookery</title>
      <link rel="stylesheet" href="/-/docs/assets/swagger-ui.css" />
      <style>
        body > p {
          font: 16px sans-serif;
          margin: 16px 20px;
        }
        @media (max-width: 640px) {
          .swagger-ui .opblock-tag {
            flex-wrap: wrap;
          }
          .swagger-ui .opblock-tag small {
            flex-basis: 100%;
            padding: 0;
          }
        }
      </style>
    </head>
    <body>
      <p>
        Requests of this page need a token: choose <em>Authorize</em> and enter an access token, such as the one that
        <code>npm start</code> printed. <a href="/-/docs/events">Events</a> have a page of their own.
      </p>
      <div id="docs"></div>
      <noscript
        >This page needs JavaScript. The document is at <a href="/api/v4/openapi.json">openapi.json</a>.</noscript
      >
      <script src="/-/docs/assets/swagger-ui-bundle.js"></script>
      <script src="/-/docs/assets/start.js"></script>
    </body>
  </html>`;

/** Documents of the API and of events, as pages for people. Source: reference pages 4. */
@Controller()
export class DocsController {
  private readonly kept = new Map<string, Promise<Buffer>>();

  @Get('-/docs')
  @Header('X-Frame-Options', 'DENY')
  async api(@Res() reply: FastifyReply): Promise<void> {
    sendApiDocsPage(reply, POLICY, await this.loadFileOnce('api', async () => Buffer.from(String(await apiDocs))));
  }

  @Get('-/docs/events')
  @Header('X-Frame-Options', 'DENY')
  async eventPage(@Res() reply: FastifyReply): Promise<void> {
    sendApiDocsPage(reply, PLAIN_POLICY, await this.loadFileOnce('events', renderEventDocsPage));
  }

  @Get('-/docs/assets/:file')
  async asset(@Param('file') name: string, @Res() reply: FastifyReply): Promise<void> {
    const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (!file) {
      void reply.status(404).header('content-type', 'application/json').send('{"message":"404 Not Found"}');
      return;
    }
    const { text } = file;
    const read = () => (text === undefined ? readFile(join(ASSETS, name)) : Promise.resolve(Buffer.from(text)));
    const content = await this.loadFileOnce(name, read);
    void reply
      .header('content-type', file.type)
      .header('cache-control', `public, max-age=${KEPT_FOR}`)
      .header('x-content-type-options', 'nosniff')
      .send(content);
  }

  /** All requests share one buffer of a file, so that many slow readers need no more memory than one. */
  private loadFileOnce(name: string, load: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.kept.get(name);
    if (known) return known;
    const made = load();
    this.kept.set(name, made);
    made.catch(() => this.kept.delete(name));
    return made;
  }
}

function sendApiDocsPage(reply: FastifyReply, contentSecurityPolicy: string, content: Buffer): void {
  void reply
    .header('content-type', HTML)
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'same-origin')
    .send(content);
}

async function renderEventDocsPage(): Promise<Buffer> {
  const document = JSON.parse(await readFile(ASYNCAPI_FILE, 'utf8')) as AsyncApiDocument;
  return Buffer.from(String(await eventDocs(document, STYLE_PATH)));
}
