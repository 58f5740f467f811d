import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitProcesses } from '../../src/process/git-processes';
import type { GitProcessesOptions } from '../../src/process/git-processes';
import { gitProcessSlotLimits } from '../../src/process/process-slots';
import { ObjectReaders } from '../../src/repository/object-readers';
import { Repositories, hashedRepositoryPath } from '../../src/repository/repositories';
import type { Repository } from '../../src/repository/repository';
import type { ObjectId } from '../../src/names/object-id';

export const OPTIONS: GitProcessesOptions = {
  pushBytes: 2 ** 31,
  memoryBytes: 2 ** 30,
  slots: gitProcessSlotLimits(16, 8),
};

/** Folder with storages, git and readers for one spec file. */
export class TestGit {
  readonly folder = mkdtempSync(join(tmpdir(), 'rookery-git-'));
  readonly processes: GitProcesses;
  readonly readers: ObjectReaders;
  readonly repositories: Repositories;
  private count = 0;

  constructor(options: Partial<GitProcessesOptions> = {}, readers = { total: 8, idleMs: 60_000 }) {
    this.processes = new GitProcesses({ ...OPTIONS, ...options });
    this.readers = new ObjectReaders(this.processes, readers);
    const storages = new Map([['default', join(this.folder, 'default')]]);
    this.repositories = new Repositories(storages, { processes: this.processes, readers: this.readers });
  }

  nextAddress(): { storage: string; path: string } {
    this.count += 1;
    return { storage: 'default', path: hashedRepositoryPath(this.count) };
  }

  create(): Promise<Repository> {
    return this.repositories.create(this.nextAddress(), { defaultBranch: 'main' });
  }

  close(): void {
    this.readers.closeAll();
    this.processes.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Runs the git of the machine as a person would. */
export function git(
  cwd: string,
  args: readonly string[],
  input?: string | Buffer,
  encoding: BufferEncoding = 'utf8',
): string {
  const identity = {
    GIT_AUTHOR_NAME: 'Wren',
    GIT_AUTHOR_EMAIL: 'wren@example.org',
    GIT_COMMITTER_NAME: 'Wren',
    GIT_COMMITTER_EMAIL: 'wren@example.org',
  };
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_DATE: '@1700000000 +0200',
    GIT_COMMITTER_DATE: '@1700000000 +0200',
    ...identity,
  };
  return execFileSync('git', args as string[], {
    cwd,
    env,
    input: input ?? '',
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'pipe'],
  }).toString(encoding);
}

export type Files = Readonly<Record<string, string | Buffer>>;

/** Writes a commit with exactly these files by fast-import, and returns its id. */
export function commit(
  repository: Repository,
  files: Files,
  o: { readonly branch?: string; readonly message?: string; readonly parents?: readonly string[] } = {},
): ObjectId {
  const { branch = 'main', message = 'Change', parents } = o;
  const parts: (string | Buffer)[] = [
    `commit refs/heads/${branch}\nmark :1\ncommitter Wren <wren@example.org> 1700000000 +0200\n`,
  ];
  parts.push(`data ${Buffer.byteLength(message)}\n${message}\n`);
  const [from, ...merged] = parents ?? existingTips(repository, branch);
  if (from) parts.push(`from ${from}\n`);
  parts.push(...merged.map((id) => `merge ${id}\n`), 'deleteall\n');
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    parts.push(`M 100644 inline ${JSON.stringify(path)}\ndata ${bytes.length}\n`, bytes, '\n');
  }
  parts.push('done\n');
  const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
  git(repository.directory, ['fast-import', '--quiet', '--force', '--done', '--date-format=raw'], input);
  return git(repository.directory, ['rev-parse', `refs/heads/${branch}`]).trim() as ObjectId;
}

function existingTips(repository: Repository, branch: string): string[] {
  const found = git(repository.directory, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]).trim();
  return found === '' ? [] : [found];
}

/** Waits for a condition. Errors: an error after a minute. */
export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await isMet())) {
    if (Date.now() > end) throw new Error('The condition was not met within a minute.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
