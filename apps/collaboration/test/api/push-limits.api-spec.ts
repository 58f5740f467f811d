import { randomBytes } from 'node:crypto';
import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { GitBusy, NO_OBJECT, objectId } from '@rookery/git';
import type { Repository } from '@rookery/git';
import { InstanceSettings } from '@rookery/instance';
import type { PlanLimitName } from '@rookery/instance';
import { GitClient } from '@rookery/testing';
import type { Ran, SeededService, SeededUser } from '@rookery/testing';
import type { Response } from 'supertest';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { PushLimits } from '../../src/code/repositories/ref-updates/push-limits';
import { RepositoriesJob } from '../../src/code/repositories/repositories.job';
import { startCollaboration } from '../support/app';
import { GitFront } from '../support/git-front';

const MIB = 1024 ** 2;
const OF_PROJECT = 'This change would exceed the storage limit of the project, which is 3MiB for repositories.';
const OF_NAMESPACE = 'This change would exceed the storage limit of the namespace, which is 3MiB for repositories.';

let service: SeededService;
let front: GitFront;
let git: GitClient;
let maintainer: SeededUser;
let version = 0;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  maintainer = await service.seed.user();
  front.accept('maintainer', () => service.seed.viewer(maintainer));
});
afterEach(() => applyPlanLimits({}));
afterAll(async () => {
  await front.stop();
  await git.close();
  await service.close();
});

/** Sets limits of a plan, and no others. Units: bytes. */
function applyPlanLimits(limits: Partial<Record<PlanLimitName, number>>, plan = 'default'): void {
  service.app
    .get(InstanceSettings)
    .applyAnswer({ version: (version += 1), features: {}, settings: {}, plan_limits: { [plan]: limits } });
}

interface Place {
  readonly group: DirectoryNamespace;
  readonly project: DirectoryProject;
  readonly folder: string;
}

/** Project with one pushed commit. */
async function place(parent?: DirectoryNamespace): Promise<Place> {
  const group = parent ?? (await service.seed.group({ plan: 'free' }));
  const project = await service.seed.project({ namespace_id: group.id, default_branch: null });
  await service.seed.member(maintainer, project, 'maintainer');
  const folder = `work-${++at}`;
  await git.init(folder, front.url(`${group.full_path}/${project.path}.git`, 'maintainer'));
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  return { group, project, folder };
}

/** Commits random bytes, which git cannot compress. */
async function commitBytes(folder: string, size: number, name = 'large'): Promise<string> {
  await writeFile(join(git.folder, folder, name), randomBytes(size));
  await git.ok(folder, 'add', name);
  await git.ok(folder, 'commit', '--quiet', '-m', `Add ${name}`);
  return (await git.ok(folder, 'rev-parse', `HEAD:${name}`)).trim();
}
const push = (folder: string, ...refs: string[]): Promise<Ran> => git.run(folder, 'push', 'origin', ...refs);

async function listTemporaryObjectFolders({ project }: Place): Promise<string[]> {
  const repository = await service.app.get(ProjectRepositories).findRepository(project.id);
  const names = await readdir(join(repository!.directory, 'objects'));
  return names.filter((name) => name.startsWith('tmp_'));
}

const commit = ({ project }: Place, content: string, name = 'api'): Promise<Response> =>
  service.app
    .as(service.seed.viewer(maintainer))
    .post(`/api/v4/projects/${project.id}/repository/commits`)
    .send({
      branch: 'main',
      commit_message: 'Message',
      actions: [{ action: 'create', file_path: name, content, encoding: 'base64' }],
    });
const randomText = (size: number): string => randomBytes(size).toString('base64');
const statusAndMessage = ({ status, body }: Response): unknown[] => [status, (body as { message: string }).message];
const pushesOf = async ({ project }: Place): Promise<number> => {
  const sql = 'select count(*)::int as n from pushes where project_id = $1';
  return (await service.database.query<{ n: number }>(sql, [project.id]))[0]!.n;
};

it('warns about files of more than 100 MiB that no limit refuses', async () => {
  const here = await place();
  const large = join(git.folder, here.folder, 'zeros');
  await writeFile(large, '');
  // Zeros are the smallest pack of such a file.
  await truncate(large, 100 * MIB + 1);
  await git.ok(here.folder, 'add', 'zeros');
  await git.ok(here.folder, 'commit', '--quiet', '-m', 'Zeros');
  const id = (await git.ok(here.folder, 'rev-parse', 'HEAD:zeros')).trim();
  const { code, output } = await push(here.folder, 'main');
  expect(code).toBe(0);
  expect(output).toContain('remote: Rookery: Warning: This push adds files of more than 100MiB');
  expect(output).toContain(`remote: - ${id} (100MiB)`);
});

it('gives no warning if the search fails or takes too long, and ends with the push', async () => {
  const limits = service.app.get(PushLimits);
  const updates = [{ ref: 'refs/heads/main', oldId: NO_OBJECT, newId: objectId('1'.repeat(40)) }];
  const search = (open: (of: { readonly signal: AbortSignal }) => Promise<never>, signal: AbortSignal) =>
    limits.warningOfFiles({ open } as unknown as Repository, { storedBytes: MIB, signal }, updates);
  const { signal } = new AbortController();
  expect(await search(() => Promise.reject(new GitBusy('Too many git processes are running.', 2)), signal)).toBeNull();
  const untilAborted = (of: { readonly signal: AbortSignal }) =>
    new Promise<never>((_, reject) => {
      const end = () => reject(of.signal.reason as Error);
      if (of.signal.aborted) end();
      else of.signal.addEventListener('abort', end);
    });
  const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new Error('late')));
  expect(await search(untilAborted, signal)).toBeNull();
  timeout.mockRestore();
  await expect(search(untilAborted, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});

describe('repository_max_file_size', () => {
  it('refuses pushes of larger files, with their ids, and takes files of the size', async () => {
    const here = await place();
    applyPlanLimits({ repository_max_file_size: MIB });
    await commitBytes(here.folder, MIB, 'fits');
    expect((await push(here.folder, 'main')).code).toBe(0);
    const id = await commitBytes(here.folder, MIB + MIB / 2);
    // A later commit without the file does not help: the history has it.
    await git.ok(here.folder, 'rm', '--quiet', 'large');
    await git.ok(here.folder, 'commit', '--quiet', '-m', 'Remove it');
    for (const ref of ['main', 'main:refs/tags/v1']) {
      const { code, output } = await push(here.folder, ref);
      expect(code).toBe(1);
      expect(output).toContain(
        'remote: Rookery: You are attempting to check in one or more blobs which exceed the 1MiB limit:',
      );
      expect(output).toContain(`remote: - ${id} (1.5MiB)`);
    }
    expect([await pushesOf(here), await listTemporaryObjectFolders(here)]).toEqual([2, []]);
    applyPlanLimits({});
    expect((await push(here.folder, 'main')).code).toBe(0);
    // The file is part of the repository now.
    applyPlanLimits({ repository_max_file_size: MIB });
    await git.commit(here.folder, 'Next');
    expect((await push(here.folder, 'main', 'main:other')).code).toBe(0);
    expect((await push(here.folder, ':other')).code).toBe(0);
  });

  it('refuses commits through the API', async () => {
    const here = await place();
    applyPlanLimits({ repository_max_file_size: 1000 }, 'free');
    expect((await commit(here, randomText(1000))).status).toBe(201);
    const refused = await commit(here, randomText(2 * MIB), 'second');
    expect(statusAndMessage(refused)).toEqual([
      400,
      expect.stringMatching(/^You are attempting to check in .* the 0\.98KiB limit:\n\n- [0-9a-f]{40} \(2MiB\)\n/),
    ]);
    expect([await pushesOf(here), await listTemporaryObjectFolders(here)]).toEqual([2, []]);
    applyPlanLimits({ repository_max_file_size: 1000 }, 'premium');
    expect((await commit(here, randomText(2000), 'second')).status).toBe(201);
  });
});

describe('repository_max_push_size', () => {
  it('ends a push whose pack is larger', async () => {
    const here = await place();
    applyPlanLimits({ repository_max_push_size: MIB });
    await commitBytes(here.folder, 2 * MIB);
    const { code, output } = await push(here.folder, 'main');
    expect([code, output]).toEqual([1, expect.stringContaining('pack exceeds maximum allowed size')]);
    expect([await pushesOf(here), await listTemporaryObjectFolders(here)]).toEqual([1, []]);
    applyPlanLimits({ repository_max_push_size: 3 * MIB });
    expect((await push(here.folder, 'main')).code).toBe(0);
  });
});

describe('project_repository_size_limit', () => {
  it('refuses new objects beyond it, and lets refs be deleted', async () => {
    const here = await place();
    applyPlanLimits({ project_repository_size_limit: 3 * MIB });
    await commitBytes(here.folder, 2 * MIB, 'first');
    expect((await push(here.folder, 'main', 'main:other')).code).toBe(0);
    await commitBytes(here.folder, 2 * MIB, 'second');
    const { code, output } = await push(here.folder, 'main');
    expect([code, output]).toEqual([1, expect.stringContaining(`remote: Rookery: ${OF_PROJECT}`)]);
    expect(statusAndMessage(await commit(here, randomText(2 * MIB)))).toEqual([400, OF_PROJECT]);
    expect([await pushesOf(here), await listTemporaryObjectFolders(here)]).toEqual([2, []]);
    expect((await push(here.folder, ':other')).code).toBe(0);
    expect((await commit(here, randomText(1000))).status).toBe(201);
  });

  it('is not exceeded by pushes at the same time', async () => {
    const here = await place();
    applyPlanLimits({ project_repository_size_limit: 3 * MIB });
    const names = Array.from({ length: 6 }, (_, index) => `b${index}`);
    for (const name of names) {
      await git.ok(here.folder, 'checkout', '--quiet', '-b', name, 'main');
      await commitBytes(here.folder, MIB, name);
    }
    const results = await Promise.all(names.map((name) => push(here.folder, name)));
    const taken = results.filter(({ code }) => code === 0).length;
    // A push that is not settled may count twice for a moment, never less than once.
    expect(taken).toBeGreaterThanOrEqual(1);
    expect(taken).toBeLessThanOrEqual(2);
    for (const { output } of results.filter(({ code }) => code !== 0)) expect(output).toContain(OF_PROJECT);
  });
});

describe('namespace_repositories_size_limit', () => {
  it('counts all repositories below the top-level group', async () => {
    const here = await place();
    const sibling = await place(await service.seed.group({ parent: here.group, plan: 'free' }));
    applyPlanLimits({ namespace_repositories_size_limit: 3 * MIB });
    await commitBytes(here.folder, 2 * MIB);
    expect((await push(here.folder, 'main')).code).toBe(0);
    await commitBytes(sibling.folder, 2 * MIB);
    const { code, output } = await push(sibling.folder, 'main');
    expect([code, output]).toEqual([1, expect.stringContaining(`remote: Rookery: ${OF_NAMESPACE}`)]);
    expect(statusAndMessage(await commit(sibling, randomText(2 * MIB)))).toEqual([400, OF_NAMESPACE]);
    // The measurement counts the same objects.
    await service.app.get(RepositoriesJob).measure({ params: { project_id: here.project.id } });
    expect((await push(sibling.folder, 'main')).code).toBe(1);
    const elsewhere = await place();
    await commitBytes(elsewhere.folder, 2 * MIB);
    expect((await push(elsewhere.folder, 'main')).code).toBe(0);
  });
});
