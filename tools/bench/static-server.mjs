/**
 * The limit of downloads: `file <port> <path>` serves one file, `hop <port> <port of the server>` passes requests on. Both
 * stream and do nothing else.
 */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { Pool } from 'undici';

const [kind, port, target = ''] = process.argv.slice(2);

/** @type {import('node:http').RequestListener} */
const serveFile = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': statSync(target).size });
  pipeline(createReadStream(target), response, () => {});
};

/** @returns {import('node:http').RequestListener} */
function createForwarder() {
  const pool = new Pool(`http://127.0.0.1:${target}`);
  return (request, response) => {
    pool
      .stream({ method: 'GET', path: request.url ?? '/', opaque: response }, ({ statusCode, headers }) => {
        response.writeHead(statusCode, /** @type {import('node:http').OutgoingHttpHeaders} */ (headers));
        return response;
      })
      .catch(() => response.destroy());
  };
}

createServer(kind === 'file' ? serveFile : createForwarder()).listen(Number(port), '127.0.0.1', () =>
  process.send?.('ready'),
);
