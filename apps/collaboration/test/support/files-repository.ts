import { execFileSync } from 'node:child_process';
import type { DirectoryProject } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import type { Viewer, Visibility } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';

/** Files of a commit by path. An object sets the mode of its file. */
export type Files = Readonly<Record<string, string | Buffer | { readonly mode: string; readonly content: string }>>;

export interface CommitOptions {
  readonly branch?: string;
  readonly message?: string;
  /** Seconds since 1970. */
  readonly at?: number;
}

/** Opens the repository of a seeded project. */
export function repositoryOf(service: SeededService, { id, default_branch }: DirectoryProject): Promise<Repository> {
  return service.app.get(ProjectRepositories).openRepository({ id, defaultBranch: default_branch });
}

/** Runs the git of the machine in a repository. */
export function gitIn(
  { directory }: Pick<Repository, 'directory'>,
  args: readonly string[],
  input: string | Buffer = '',
): string {
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_GLOBAL: '/dev/null' };
  const config = ['-c', `safe.directory=${directory}`, '-c', 'user.name=Wren', '-c', 'user.email=wren@example.org'];
  return execFileSync('git', [...config, ...args], { cwd: directory, env, input, maxBuffer: 2 ** 28 }).toString();
}

/** Writes a commit with exactly these files to a branch. Returns its id. */
export function commitFiles(repository: Repository, files: Files, o: CommitOptions = {}): string {
  const { branch = 'main', message = 'Change', at = 1_700_000_000 } = o;
  const parts: (string | Buffer)[] = [
    `commit refs/heads/${branch}\ncommitter Wren <wren@example.org> ${at} +0200\n`,
    `data ${Buffer.byteLength(message)}\n${message}\n`,
  ];
  const tip = gitIn(repository, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]).trim();
  if (tip !== '') parts.push(`from ${tip}\n`);
  parts.push('deleteall\n');
  for (const [path, file] of Object.entries(files)) {
    const given = typeof file === 'string' || Buffer.isBuffer(file) ? { mode: '100644', content: file } : file;
    if (given.mode === '160000') {
      parts.push(`M 160000 ${String(given.content)} ${JSON.stringify(path)}\n`);
      continue;
    }
    const bytes = Buffer.from(given.content as string);
    parts.push(`M ${given.mode} inline ${JSON.stringify(path)}\ndata ${bytes.length}\n`, bytes, '\n');
  }
  parts.push('done\n');
  const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
  gitIn(repository, ['fast-import', '--quiet', '--force', '--done', '--date-format=raw'], input);
  return gitIn(repository, ['rev-parse', `refs/heads/${branch}`]).trim();
}

const ROLES = ['anonymous', 'stranger', 'guest', 'reporter', 'developer', 'maintainer'] as const;
type RepositoryAccess = 'enabled' | 'private' | 'disabled';

/** Statuses of readers by place, in the order of the roles. Source: reference repositories 2.1. */
const READERS: readonly [Visibility, RepositoryAccess, readonly number[]][] = [
  ['public', 'enabled', [200, 200, 200, 200, 200, 200]],
  ['internal', 'enabled', [404, 200, 200, 200, 200, 200]],
  ['private', 'enabled', [404, 404, 403, 200, 200, 200]],
  ['public', 'private', [403, 403, 200, 200, 200, 200]],
  ['public', 'disabled', [403, 403, 403, 403, 403, 403]],
];
/** The same for writers. Each success counts as 200. */
const WRITERS: typeof READERS = [
  ['public', 'enabled', [401, 403, 403, 403, 200, 200]],
  ['internal', 'enabled', [401, 403, 403, 403, 200, 200]],
  ['private', 'enabled', [401, 404, 403, 403, 200, 200]],
  ['public', 'private', [401, 403, 403, 403, 200, 200]],
  ['public', 'disabled', [401, 403, 403, 403, 403, 403]],
];

/**
 * Tests the statuses of one request by role, in projects of each visibility and access to the repository. `fill`
 * prepares the repository. `ask` sends the request and returns its status.
 */
export function codeAccess(
  kind: 'reads' | 'writes',
  o: {
    readonly service: () => SeededService;
    readonly fill: (repository: Repository) => void;
    readonly ask: (viewer: Viewer, projectId: number) => Promise<number>;
  },
): void {
  const rows = kind === 'reads' ? READERS : WRITERS;
  it.each(rows)('permits each role in a %s project whose repository is %s', async (visibility, access, expected) => {
    const { seed } = o.service();
    const group = await seed.group({ visibility });
    const place = { namespace_id: group.id, visibility, repository_access_level: access };
    const project = await seed.project(place);
    o.fill(await repositoryOf(o.service(), project));
    const statuses: number[] = [];
    for (const role of ROLES) {
      const user = role === 'anonymous' ? null : await seed.user();
      if (user && role !== 'stranger') await seed.member(user, project, role as 'guest');
      const status = await o.ask(user ? seed.viewer(user) : seed.anonymous(), project.id);
      statuses.push(status < 300 ? 200 : status);
    }
    expect(statuses).toEqual(expected);
  });
}
