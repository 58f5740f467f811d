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
  'commits/main/comments',
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
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  commitFiles(repository, { a: 'a\n' });
  const users = Object.entries(cast).map(([name, user]) => [name, service.seed.viewer(user)]);
  const viewers = { ...Object.fromEntries(users), anonymous: service.seed.anonymous() } as Record<Caller, Viewer>;
  return { viewers, path: `/api/v4/projects/${project.id}/repository` };
}

const isMember = (caller: Caller): boolean => !['anonymous', 'external', 'stranger'].includes(caller);
const isBelowReporter = (caller: Caller): boolean => ['guest', 'planner'].includes(caller);

function expectedStatuses(caller: Caller, visibility: Visibility, access: RepositoryAccess): readonly unknown[] {
  const isHidden = { public: [], internal: ['anonymous', 'external'], private: ['anonymous', 'external', 'stranger'] };
  if ((isHidden[visibility] as string[]).includes(caller)) return PROJECT_MISSING;
  if (access === 'disabled' || (access === 'private' && !isMember(caller))) return REPOSITORY_MISSING;
  return visibility === 'private' && isBelowReporter(caller) ? FORBIDDEN : READ;
}

describe.each(VISIBILITIES)('reads in a %s project', (visibility) => {
  it.each(['enabled', 'private', 'disabled'] as const)('whose repository is %s', async (access) => {
    const { viewers, path } = await place({ visibility, repository_access_level: access });
    for (const caller of [...CALLERS, 'admin'] as const) {
      const wanted = expectedStatuses(caller, visibility, access);
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
    // Merge requests and comments are not code.
    const ofCode = /\/(merge_requests|comments)$/.test(read) ? 403 : 200;
    expect([read, (await asked(['read_repository'])).status]).toEqual([read, ofCode]);
    expect([read, (await asked(['read_api'])).status]).toEqual([read, 200]);
    expect([read, (await asked(['read_user'])).status]).toEqual([read, 403]);
  }
});

/** Discussions of commits are for signed-in callers only, and so are new comments. */
describe.each(VISIBILITIES)('discussions in a %s project', (visibility) => {
  it.each(['enabled', 'private', 'disabled'] as const)('whose repository is %s', async (access) => {
    const { viewers, path } = await place({ visibility, repository_access_level: access });
    const commit = `${path}/commits/main`;
    const unknown = '0'.repeat(40);
    const asked = {
      'GET discussions': { found: [200, []] },
      'POST discussions': { found: [400, { error: 'body is missing' }], sent: {} },
      'POST comments': { found: [400, { error: 'note is missing' }], sent: {} },
      [`GET discussions/${unknown}`]: { found: [404, { message: '404 Discussion Not Found' }] },
      [`GET discussions/${unknown}/notes`]: { found: [404, { message: '404 Notes Not Found' }] },
      [`POST discussions/${unknown}/notes`]: {
        found: [404, { message: '404 Discussion Not Found' }],
        sent: { body: 'x' },
      },
      [`GET discussions/${unknown}/notes/1`]: { found: [404, { message: '404 Discussion Not Found' }] },
      [`PUT discussions/${unknown}/notes/1`]: { found: [404, { message: '404 Not found' }], sent: { body: 'x' } },
      [`DELETE discussions/${unknown}/notes/1`]: { found: [404, { message: '404 Not found' }] },
    };
    // As above, all routes are asked for in one kind of project only.
    const isSampled = visibility !== 'private' || access !== 'enabled';
    const requests = Object.entries(asked).slice(0, isSampled ? 3 : undefined);
    for (const caller of [...CALLERS, 'admin'] as const) {
      const refusal = expectedStatuses(caller, visibility, access);
      for (const [request, { found, ...rest }] of requests) {
        const [method, tail] = request.split(' ') as [string, string];
        const verb = method.toLowerCase() as 'get' | 'post' | 'put' | 'delete';
        const sent = 'sent' in rest ? rest.sent : undefined;
        // Parameters are checked first, so that valid ones are sent where the caller is refused.
        const isRefused = refusal !== READ;
        const params = isRefused && sent && !('body' in sent) ? { body: 'x', note: 'x' } : sent;
        const { status, body } = await service.app.as(viewers[caller])[verb](`${commit}/${tail}`).send(params);
        const wanted = caller === 'anonymous' ? [401, { message: '401 Unauthorized' }] : isRefused ? refusal : found;
        expect([caller, request, status, body]).toEqual([caller, request, ...wanted]);
      }
    }
  });
});
