import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { requireDebianPackages } from './debian-packages';
import type { ClientRun } from './package-clients';

/** Longest run of the client. Units: ms. */
const TIMEOUT_MS = 240_000;

/**
 * The go command, and HTTPS in front of an estate, because it sends credentials over HTTPS only. Each run has a home and
 * caches of its own.
 */
export class GoClient {
  /** URL of the front, without a path. */
  readonly origin: string;
  private count = 0;

  private constructor(
    private readonly root: string,
    private readonly front: Server,
  ) {
    this.origin = `https://127.0.0.1:${(front.address() as AddressInfo).port}`;
  }

  /** Errors: a plain Error if the Debian packages cannot be installed. */
  static async make(estateUrl: string): Promise<GoClient> {
    requireDebianPackages('golang-go', 'openssl');
    const root = mkdtempSync(join(tmpdir(), 'rookery-go-'));
    const [key, cert] = [join(root, 'key.pem'), join(root, 'cert.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-days', '2', ...names], {
      stdio: 'pipe',
    });
    const front = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (asked, answer) => {
      const { method, headers, url = '/' } = asked;
      const forwarded = request(new URL(url, estateUrl), { method, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 502, found.headers);
        pipeline(found, answer, () => undefined);
      });
      forwarded.on('error', () => answer.destroy());
      pipeline(asked, forwarded, () => undefined);
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    return new GoClient(root, front);
  }

  /** Creates a folder with these files. Returns its path. */
  folder(files: Readonly<Record<string, string>>): string {
    const folder = join(this.root, `folder-${++this.count}`);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return folder;
  }

  /** Runs `go` in a folder with cold caches. `token` is in the netrc file, or null for a run without one. */
  run(folder: string, proxy: string, token: string | null, ...args: string[]): Promise<ClientRun> {
    const home = join(this.root, `home-${++this.count}`);
    mkdirSync(home);
    if (token !== null)
      writeFileSync(join(home, '.netrc'), `machine 127.0.0.1 login anybody password ${token}\n`, { mode: 0o600 });
    const env = {
      ...{ PATH: process.env['PATH'], HOME: home, GOPATH: join(home, 'go'), GOCACHE: join(home, 'cache') },
      ...{ GOPROXY: proxy, GOSUMDB: 'off', GOENV: 'off', SSL_CERT_FILE: join(this.root, 'cert.pem') },
      // Without it the files of modules cannot be removed.
      GOFLAGS: '-mod=mod -modcacherw',
    };
    return new Promise((resolve) => {
      execFile('go', args, { cwd: folder, env, timeout: TIMEOUT_MS }, (error, out, err) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${out}${err}` }),
      );
    });
  }

  close(): void {
    this.front.close();
    this.front.closeAllConnections();
    rmSync(this.root, { recursive: true, force: true });
  }
}
