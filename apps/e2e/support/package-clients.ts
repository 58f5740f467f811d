import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** End of a run of a client. `text` combines both of its outputs. */
export interface ClientRun {
  readonly code: number;
  readonly text: string;
}

const MODULES = join(__dirname, '../../../node_modules');
const CLIENTS = {
  npm: 'npm/bin/npm-cli.js',
  pnpm: 'pnpm/bin/pnpm.cjs',
  yarn: 'yarn/bin/yarn.js',
  berry: '@yarnpkg/cli-dist/bin/yarn.js',
} as const;
export type PackageClient = keyof typeof CLIENTS;

/** Longest run of a client. Units: ms. */
const TIMEOUT_MS = 240_000;

/**
 * A folder in which package managers run with a home, a configuration and caches of their own, so that a run sees nothing
 * of the machine and of other runs.
 */
export class ClientFolder {
  readonly root = mkdtempSync(join(tmpdir(), 'rookery-clients-'));
  private count = 0;

  /** Creates a folder with these files. Returns its path. */
  project(files: Readonly<Record<string, string | object>>): string {
    const folder = join(this.root, `project-${++this.count}`);
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    }
    return folder;
  }

  /** Runs a client in a folder, with cold caches. */
  run(client: PackageClient, folder: string, ...args: string[]): Promise<ClientRun> {
    const home = join(this.root, `home-${++this.count}`);
    mkdirSync(home);
    const script = join(MODULES, CLIENTS[client]);
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [script, ...args],
        { cwd: folder, env: environmentOf(home), timeout: TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 },
        (error, out, err) => resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${out}${err}` }),
      );
    });
  }

  /** Runs a client that has to succeed. Returns what it printed. */
  async succeed(client: PackageClient, folder: string, ...args: string[]): Promise<string> {
    const { code, text } = await this.run(client, folder, ...args);
    if (code !== 0) throw new Error(`${client} ${args.join(' ')} ended with ${code}:\n${text}`);
    return text;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Settings of the machine's npm, its proxies among them, count for nothing. */
function environmentOf(home: string): Record<string, string> {
  return {
    PATH: [join(MODULES, '.bin'), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    npm_config_cache: join(home, 'npm-cache'),
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_fetch_retries: '0',
    YARN_CACHE_FOLDER: join(home, 'yarn-cache'),
    YARN_GLOBAL_FOLDER: join(home, 'yarn-global'),
    YARN_ENABLE_TELEMETRY: '0',
    CI: '1',
  };
}
