import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PERSON = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
  [`GIT_${role}_NAME`, 'Wren'],
  [`GIT_${role}_EMAIL`, 'wren@example.org'],
]);

/** Outcome of a git command. `output` combines both streams. */
export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** A stock git client with a folder for its clones. */
export class GitClient {
  private constructor(readonly folder: string) {}

  static async make(): Promise<GitClient> {
    return new GitClient(await mkdtemp(join(tmpdir(), 'rookery-git-client-')));
  }

  /** Runs git in a folder below the client's own. */
  run(folder: string, ...args: string[]): Promise<Ran> {
    const env = {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      ...Object.fromEntries(PERSON),
    };
    return new Promise((resolve) => {
      const child = spawn('git', args, { cwd: join(this.folder, folder), env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (output += text.toString()));
      child.once('close', (code) => resolve({ code, output }));
    });
  }

  /** Runs git and returns its output. Errors: a plain Error if git fails. */
  async ok(folder: string, ...args: string[]): Promise<string> {
    const { code, output } = await this.run(folder, ...args);
    if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${output}`);
    return output;
  }

  /** Creates a repository with one commit on `main`. */
  async init(folder: string, url: string): Promise<void> {
    await this.ok('.', 'init', '--quiet', '--initial-branch=main', folder);
    await this.ok(folder, 'remote', 'add', 'origin', url);
    await this.commit(folder, 'First');
  }

  /** Commits a file with the title as its content. */
  async commit(folder: string, title: string, path = 'README.md'): Promise<string> {
    await writeFile(join(this.folder, folder, path), `${title}\n`);
    await this.ok(folder, 'add', '--', path);
    await this.ok(folder, 'commit', '--quiet', '-m', title);
    return (await this.ok(folder, 'rev-parse', 'HEAD')).trim();
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
