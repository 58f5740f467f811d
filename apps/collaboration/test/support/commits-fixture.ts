import { execFileSync } from 'node:child_process';
import type { ObjectId, Repository } from '@rookery/git';

/** Files of a commit: all that it has, by path. A text is a normal file. */
export type Files = Readonly<Record<string, string | Buffer | { readonly mode: string; readonly content: string }>>;

export interface NewTestCommit {
  /** Default `main`. */
  readonly branch?: string;
  readonly message?: string;
  /** Default: the present commit of the branch. */
  readonly parents?: readonly string[];
  /** Seconds since 1970 of author and committer. Each commit is a minute later than the one before by default. */
  readonly at?: number;
  readonly author?: string;
}

const FIRST_SECOND = 1_700_000_000;
let commits = 0;

/** Writes commits into a repository as a push would leave them. No push event is written. */
export function commitFiles(repository: Repository, files: Files, o: NewTestCommit = {}): ObjectId {
  const { branch = 'main', message = 'Change', parents, author = 'Wren <wren@example.org>' } = o;
  commits += 1;
  const { at = FIRST_SECOND + commits * 60 } = o;
  const person = `${author} ${at} +0200\n`;
  const parts: (string | Buffer)[] = [`commit refs/heads/${branch}\nauthor ${person}committer ${person}`];
  parts.push(`data ${Buffer.byteLength(message)}\n${message}\n`);
  const [from, ...merged] = parents ?? tipOf(repository, branch);
  if (from) parts.push(`from ${from}\n`);
  parts.push(...merged.map((id) => `merge ${id}\n`), 'deleteall\n');
  for (const [path, file] of Object.entries(files)) {
    const isPlain = typeof file === 'string' || Buffer.isBuffer(file);
    const bytes = Buffer.from(isPlain ? file : file.content);
    parts.push(
      `M ${isPlain ? '100644' : file.mode} inline ${JSON.stringify(path)}\ndata ${bytes.length}\n`,
      bytes,
      '\n',
    );
  }
  parts.push('done\n');
  const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
  gitIn(repository, ['fast-import', '--quiet', '--force', '--done', '--date-format=raw'], input);
  return gitIn(repository, ['rev-parse', `refs/heads/${branch}`]) as ObjectId;
}

/** Runs the git of the machine in a repository. */
export function gitIn(repository: Repository, args: readonly string[], input: string | Buffer = ''): string {
  const person = { NAME: 'Wren', EMAIL: 'wren@example.org', DATE: '@1700000000 +0000' };
  const roles = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(person).map(([name, value]) => [`GIT_${role}_${name}`, value]),
  );
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const options = {
    cwd: repository.directory,
    env: { ...env, ...Object.fromEntries(roles) },
    input,
    maxBuffer: 2 ** 28,
  };
  return execFileSync('git', args as string[], { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
    .toString()
    .trim();
}

function tipOf(repository: Repository, branch: string): string[] {
  const tip = gitIn(repository, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]);
  return tip === '' ? [] : [tip];
}
