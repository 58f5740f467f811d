import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** One request for a repository below `root`. `path` begins with a slash; with a `user`, pushes are accepted. */
export interface GitRequest {
  readonly root: string;
  readonly path: string;
  readonly user?: string;
}

/** Serves a request of a git client with the stock `git http-backend`. */
export async function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  { root, path, user }: GitRequest,
): Promise<void> {
  const { headers } = request;
  const given = {
    REQUEST_METHOD: request.method,
    PATH_INFO: path,
    QUERY_STRING: new URL(request.url!, 'http://x').search.slice(1),
    CONTENT_TYPE: headers['content-type'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
    GIT_PROTOCOL: headers['git-protocol'] as string | undefined,
    REMOTE_USER: user,
  };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const config = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_HTTP_EXPORT_ALL: '1' };
  const env = { PATH: process.env['PATH'], ...config, GIT_PROJECT_ROOT: root, ...set };
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  // The backend may answer before it has read everything.
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  await pipeline(
    child.stdout,
    async function* withoutHead(source: AsyncIterable<Buffer>) {
      let head: Buffer | null = Buffer.alloc(0);
      for await (const chunk of source) {
        if (head === null) {
          yield chunk;
          continue;
        }
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) continue;
        writeCgiHead(response, head.subarray(0, end).toString());
        yield head.subarray(end + 4);
        head = null;
      }
    },
    response,
  );
}

/** Writes the status and headers of a CGI program. */
function writeCgiHead(response: ServerResponse, head: string): void {
  const lines = head.split('\r\n').map((line) => line.split(/:\s*/, 2) as [string, string]);
  const status = lines.find(([name]) => name === 'Status')?.[1] ?? '200';
  response.statusCode = Number.parseInt(status, 10);
  for (const [name, value] of lines) if (name !== 'Status') response.setHeader(name, value);
}
