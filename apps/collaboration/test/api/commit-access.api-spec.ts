import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer, Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { castOf, startCollaboration } from '../support/app';
import { commitFiles } from '../support/commits-fixture';

const CALLERS = [
  'anonymous',
  'external',
  'stranger',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
] as const;
type Caller = (typeof CALLERS)[number] | 'admin';
type RepositoryAccess = 'enabled' | 'private' | 'disabled';

/** Reads of the history of `main`. */
const READS = [
  'commits',
  'commits/main',
  'commits/main/diff',
  'commits/main/refs',
  'commits/main/sequence',
  'commits/main/merge_requests',
  'compare?from=main&to=main',
  'merge_base?refs=main,main',
  'contributors',
];
const PROJECT_MISSING = [404, { message: '404 Project Not Found' }];
const REPOSITORY_MISSING = [404, { message: '404 Repository Not Found' }];
const FORBIDDEN = [403, { message: '403 Forbidden' }];
const READ = [200, null];

let service: SeededService;
beforeAll(async () => {
  service = await startCollaboration();
});
afterAll(() => service.close());

async function place(over: Partial<DirectoryProject>): Promise<{ viewers: Record<Caller, Viewer>; path: string }> {
  const group = await service.seed.group({ visibility: over.visibility! });
  const project = await service.seed.project({ namespace_id: group.id, ...over });
  const cast = await castOf(service.seed, project);
  const repository = await service.app.get(ProjectRepositories).open({ id: project.id, defaultBranch: 'main' });
  commitFiles(repository, { a: 'a\n' });
  const users = Object.entries(cast).map(([name, user]) => [name, service.seed.viewer(user)]);
  const viewers = { ...Object.fromEntries(users), anonymous: service.seed.anonymous() } as Record<Caller, Viewer>;
  return { viewers, path: `/api/v4/projects/${project.id}/repository` };
}

const isMember = (caller: Caller): boolean => !['anonymous', 'external', 'stranger'].includes(caller);
const isBelowReporter = (caller: Caller): boolean => ['guest', 'planner'].includes(caller);

function expected(caller: Caller, visibility: Visibility, access: RepositoryAccess): readonly unknown[] {
  const isHidden = { public: [], internal: ['anonymous', 'external'], private: ['anonymous', 'external', 'stranger'] };
  if ((isHidden[visibility] as string[]).includes(caller)) return PROJECT_MISSING;
  if (access === 'disabled' || (access === 'private' && !isMember(caller))) return REPOSITORY_MISSING;
  return visibility === 'private' && isBelowReporter(caller) ? FORBIDDEN : READ;
}

describe.each(VISIBILITIES)('reads in a %s project', (visibility) => {
  it.each(['enabled', 'private', 'disabled'] as const)('whose repository is %s', async (access) => {
    const { viewers, path } = await place({ visibility, repository_access_level: access });
    for (const caller of [...CALLERS, 'admin'] as const) {
      const wanted = expected(caller, visibility, access);
      // All routes have the same permission, so that all of them are asked for in one kind of project only.
      const isSampled = visibility !== 'private' || access !== 'enabled';
      for (const read of isSampled ? ['commits/main?stats=false'] : READS) {
        const { status, body } = await service.app.as(viewers[caller]).get(`${path}/${read}`);
        expect([caller, read, status, status === 200 ? null : body]).toEqual([caller, read, ...wanted]);
      }
    }
  });
});

it.each(READS)('finds no repository where it is disabled: %s', async (read) => {
  const { viewers, path } = await place({ visibility: 'private', repository_access_level: 'disabled' });
  const { status, body } = await service.app.as(viewers.maintainer).get(`${path}/${read}`);
  expect([status, body]).toEqual(REPOSITORY_MISSING);
});

it('needs the right to read merge requests for those of a commit', async () => {
  const hidden = await place({ visibility: 'public', merge_requests_access_level: 'private' });
  const ask = (viewer: Viewer) => service.app.as(viewer).get(`${hidden.path}/commits/main/merge_requests`);
  expect((await ask(hidden.viewers.guest)).status).toBe(200);
  for (const caller of ['anonymous', 'stranger'] as const) {
    const { status, body } = await ask(hidden.viewers[caller]);
    expect([status, body]).toEqual(FORBIDDEN);
  }
});

it('is open to tokens that read repositories', async () => {
  const { viewers, path } = await place({ visibility: 'private' });
  for (const read of READS) {
    const asked = (scopes: string[]) => service.app.as({ ...viewers.reporter, scopes }).get(`${path}/${read}`);
    // Merge requests are not code.
    const ofCode = read.endsWith('/merge_requests') ? 403 : 200;
    expect([read, (await asked(['read_repository'])).status]).toEqual([read, ofCode]);
    expect([read, (await asked(['read_api'])).status]).toEqual([read, 200]);
    expect([read, (await asked(['read_user'])).status]).toEqual([read, 403]);
  }
});
