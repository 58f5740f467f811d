/**
 * The limit of the git benchmark: `<port> <folder>` serves the repositories of a folder without any check.
 *
 * - clones and pushes by `git http-backend`, git's own CGI program, with git's defaults; below `/checked/` with
 *   `receive.fsckObjects`, as the product pushes;
 * - `/file`, `/tree` and `/commit` of `large.git` as JSON from one kept `git cat-file --batch`, named by the query `rev`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

const [port, folder = ''] = process.argv.slice(2);
const CHECKED = '/checked';
const ENTRIES = 20;
const ID_BYTES = 20;

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
function serveGit(request, response) {
  const isChecked = request.url?.startsWith(CHECKED) ?? false;
  const url = new URL(request.url?.slice(isChecked ? CHECKED.length : 0) ?? '/', 'http://bare');
  const checks = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'receive.fsckObjects', GIT_CONFIG_VALUE_0: 'true' };
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      ...{ GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1', REMOTE_USER: 'bench', PATH_INFO: url.pathname },
      ...{ QUERY_STRING: url.search.slice(1), REQUEST_METHOD: request.method },
      ...{ CONTENT_TYPE: request.headers['content-type'], GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') },
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      ...(isChecked ? checks : {}),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  pipeline(request, child.stdin, () => {});
  let head = '';
  /** @param {Buffer} chunk */
  const onHead = (chunk) => {
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', onHead).pause();
    const lines = head
      .slice(0, end)
      .split('\r\n')
      .map((line) => line.split(': '));
    const status = lines.find(([name]) => name === 'Status')?.[1];
    response.writeHead(Number.parseInt(status ?? '200', 10), Object.fromEntries(lines));
    response.write(Buffer.from(head.slice(end + 4), 'latin1'));
    pipeline(child.stdout, response, () => {});
  };
  child.stdout.on('data', onHead);
}

/** One kept `git cat-file --batch`, which answers one question after the other. */
class CatFileReader {
  /** @type {Promise<unknown>} */
  last = Promise.resolve();
  child = spawn('git', ['-C', join(folder, 'large.git'), 'cat-file', '--batch'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });

  /**
   * @param {string} rev
   * @returns {Promise<Buffer>}
   */
  read(rev) {
    const next = this.last.then(() => this.#requestObject(rev));
    this.last = next;
    return next;
  }

  /** @param {string} rev */
  async #requestObject(rev) {
    this.child.stdin.write(`${rev}\n`);
    let seen = Buffer.alloc(0);
    for (;;) {
      const [chunk] = await once(this.child.stdout, 'data');
      seen = Buffer.concat([seen, chunk]);
      const end = seen.indexOf('\n');
      if (end < 0) continue;
      const size = Number(seen.subarray(0, end).toString().split(' ')[2]);
      if (seen.length >= end + 1 + size + 1) return seen.subarray(end + 1, end + 1 + size);
    }
  }
}

/**
 * First entries of a tree.
 * @param {Buffer} tree
 */
function parseFirstGitTreeEntries(tree) {
  const entries = [];
  for (let at = 0; at < tree.length && entries.length < ENTRIES;) {
    const end = tree.indexOf(0, at);
    const [mode, name] = tree.subarray(at, end).toString().split(' ');
    at = end + 1 + ID_BYTES;
    entries.push({ id: tree.subarray(end + 1, at).toString('hex'), mode, name });
  }
  return entries;
}

/** @param {Buffer} commit */
function parseCommit(commit) {
  const [head = '', ...message] = commit.toString().split('\n\n');
  return { ...Object.fromEntries(head.split('\n').map((line) => line.split(/ (.*)/))), message: message.join('\n\n') };
}

/** @type {Record<string, (content: Buffer) => unknown>} */
const READS = {
  '/file': (content) => ({ size: content.length, encoding: 'base64', content: content.toString('base64') }),
  '/tree': parseFirstGitTreeEntries,
  '/commit': parseCommit,
};
/** @type {CatFileReader | undefined} */
let reader;

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://bare');
  const present = READS[pathname];
  if (!present) return serveGit(request, response);
  reader ??= new CatFileReader();
  void reader.read(searchParams.get('rev') ?? '').then((content) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(present(content)));
  });
}).listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
