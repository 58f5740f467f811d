import type { DirectoryProject } from '@rookery/contracts';
import type { ObjectId, Repository } from '@rookery/git';
import { registerParameterEncodingTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { RefIntents } from '../../src/code/repositories/ref-updates/ref-intents';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { commitFiles, gitIn } from '../support/commits-fixture';

const FAILURE =
  "Can't perform this action automatically. It may have already been done, or a more recent commit may have updated some of this content. Please perform this action locally.";

let service: SeededService;
beforeAll(async () => {
  service = await startCollaboration();
});
afterAll(() => service.close());
afterEach(() => jest.restoreAllMocks());

interface Place {
  readonly project: DirectoryProject;
  readonly repository: Repository;
  readonly cast: Cast;
  readonly path: string;
  readonly first: ObjectId;
  readonly second: ObjectId;
}

/** A project whose branch `old` lacks the second commit of `main`. */
async function place(over: Partial<DirectoryProject> = {}): Promise<Place> {
  const project = await service.seed.project({ visibility: 'private', ...over });
  const cast = await castOf(service.seed, project);
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  const first = commitFiles(repository, { a: 'a\n', b: 'b\n' }, { message: 'First' });
  const second = commitFiles(repository, { a: 'changed\n', b: 'b\n' }, { message: 'Second\n\nBody\n' });
  gitIn(repository, ['branch', 'old', first]);
  return { project, repository, cast, path: `/api/v4/projects/${project.id}/repository/commits`, first, second };
}

async function post(made: Place, path: string, body: object, caller: keyof Cast = 'developer') {
  const viewer = service.seed.viewer(made.cast[caller]);
  const answer = await service.app.as(viewer).post(`${made.path}/${path}`).send(body);
  return [answer.status, answer.body] as [number, Record<string, unknown>];
}

const tipOf = ({ repository }: Place, branch: string): string =>
  gitIn(repository, ['rev-parse', `refs/heads/${branch}`]);

describe('a cherry-pick', () => {
  it('adds the change to the branch as the caller, with the author as co-author', async () => {
    const made = await place();
    const { id, username, name } = made.cast.developer;
    const [status, body] = await post(made, `${made.second}/cherry_pick`, { branch: 'old' });
    expect(status).toBe(201);
    const email = `${id}-${username}@users.noreply.localhost`;
    expect(body).toMatchObject({
      id: tipOf(made, 'old'),
      parent_ids: [made.first],
      title: 'Second',
      message: `Second\n\nBody\n\n\n(cherry picked from commit ${made.second})\n\nCo-authored-by: Wren <wren@example.org>`,
      author_name: name,
      committer_name: name,
      author_email: expect.stringMatching(new RegExp(`^${email.split('@')[0]}@users\\.noreply\\.`)),
      trailers: { 'Co-authored-by': 'Wren <wren@example.org>' },
    });
    expect(body).not.toHaveProperty('project_id');
    expect(gitIn(made.repository, ['show', 'old:a'])).toBe('changed');
    const events = (await eventsOf(service.database, 'collaboration.push.completed.v1')).filter(
      (event) => event['project_id'] === made.project.id,
    );
    expect(events).toHaveLength(1);
    expect(await post(made, `${made.second}/cherry_pick`, { branch: 'old' })).toEqual([
      400,
      { message: `Commit cherry-pick failed: ${FAILURE}`, error_code: 'empty' },
    ]);
  });

  it('has a message of the caller, and no co-author for own commits', async () => {
    const made = await place();
    const own = await service.seed.user({ public_email: 'own@example.org' });
    await service.seed.member(own, made.project, 'developer');
    const viewer = service.seed.viewer(own);
    const pick = async (sha: string, body: object) =>
      (
        await service.app
          .as(viewer)
          .post(`${made.path}/${sha}/cherry_pick`)
          .send({ branch: 'old', ...body })
      ).body as {
        message: string;
        author_email: string;
      };
    expect((await pick(made.second, { message: 'Mine' })).message).toBe('Mine');
    const written = commitFiles(
      made.repository,
      { a: 'changed\n', b: 'new\n' },
      { author: 'Own <OWN@example.org>', message: 'Own' },
    );
    expect(await pick(written, { message: '' })).toMatchObject({
      message: `Own\n\n(cherry picked from commit ${written})`,
      author_email: 'own@example.org',
    });
  });

  it('takes the first parent of a merge, and all files of a first commit', async () => {
    const made = await place();
    const side = commitFiles(
      made.repository,
      { a: 'a\n', b: 'b\n', c: 'c\n' },
      { branch: 'side', parents: [made.first] },
    );
    const files = { a: 'changed\n', b: 'b\n', c: 'c\n' };
    const merge = commitFiles(made.repository, files, { parents: [made.second, side] });
    const [status] = await post(made, `${merge}/cherry_pick`, { branch: 'old' });
    expect(status).toBe(201);
    expect(gitIn(made.repository, ['diff-tree', '-r', '--name-status', made.first, 'old'])).toBe('A\tc');
    const root = commitFiles(made.repository, { z: 'z\n' }, { branch: 'alone' });
    expect((await post(made, `${root}/cherry_pick`, { branch: 'old' }))[0]).toBe(201);
    expect(gitIn(made.repository, ['show', 'old:z'])).toBe('z');
  });
});

describe('a revert', () => {
  it('undoes the change once', async () => {
    const made = await place();
    const [status, body] = await post(made, 'main/revert', { branch: 'main' }, 'maintainer');
    expect([status, body['message'], body['parent_ids'], body['id']]).toEqual([
      201,
      `Revert "Second"\n\nThis reverts commit ${made.second}`,
      [made.second],
      tipOf(made, 'main'),
    ]);
    expect(gitIn(made.repository, ['show', 'main:a'])).toBe('a');
    expect(await post(made, `${made.second}/revert`, { branch: 'main' }, 'maintainer')).toEqual([
      400,
      { message: `Commit revert failed: ${FAILURE}`, error_code: 'empty' },
    ]);
  });

  it('of a first commit removes its files', async () => {
    const made = await place();
    const root = commitFiles(made.repository, { z: 'z\n' }, { branch: 'alone' });
    expect((await post(made, `${root}/revert`, { branch: 'alone' }))[0]).toBe(201);
    expect(gitIn(made.repository, ['ls-tree', 'alone'])).toBe('');
  });
});

describe.each(['cherry_pick', 'revert'] as const)('%s', (action) => {
  const word = action === 'revert' ? 'revert' : 'cherry-pick';

  it('changes nothing in a dry run', async () => {
    const made = await place();
    const branch = action === 'revert' ? 'main' : 'old';
    const before = tipOf(made, branch);
    expect(await post(made, `${made.second}/${action}`, { branch, dry_run: true })).toEqual([
      200,
      { dry_run: 'success' },
    ]);
    expect(tipOf(made, branch)).toBe(before);
    const other = action === 'revert' ? 'old' : 'main';
    expect(await post(made, `${made.second}/${action}`, { branch: other, dry_run: 'True' })).toEqual([
      400,
      { message: `Commit ${word} failed: ${FAILURE}`, error_code: 'empty', dry_run: 'error' },
    ]);
  });

  it('refuses conflicts and writes nothing', async () => {
    const made = await place();
    const before = commitFiles(made.repository, { a: 'other\n', b: 'b\n' }, { branch: 'old' });
    const objects = gitIn(made.repository, ['count-objects']);
    expect(await post(made, `${made.second}/${action}`, { branch: 'old' })).toEqual([
      400,
      { message: `Commit ${word} failed: ${FAILURE}`, error_code: 'conflict' },
    ]);
    expect(tipOf(made, 'old')).toBe(before);
    expect(gitIn(made.repository, ['count-objects'])).toBe(objects);
  });

  it('finds commit and branch in this order, by encoded names', async () => {
    const made = await place();
    gitIn(made.repository, ['branch', 'feature/ü "x"'.replaceAll(/[ "]/g, '-'), made.second]);
    const commit = [404, { message: '404 Commit Not Found' }];
    const branch = [404, { message: '404 Branch Not Found' }];
    expect(await post(made, `none/${action}`, { branch: 'none' })).toEqual(commit);
    for (const name of ['none', '-x', 'refs/heads/main', 'a b', made.first, 'HEAD', '../x'])
      expect(await post(made, `${made.first}/${action}`, { branch: name })).toEqual(branch);
    expect(await post(made, `main/${action}`, {})).toEqual([400, { error: 'branch is missing' }]);
    expect(await post(made, `main/${action}`, { branch: ' ' })).toEqual([400, { error: 'branch is empty' }]);
    const target = action === 'revert' ? 'main' : 'old';
    const sha = encodeURIComponent('feature/ü--x-');
    expect((await post(made, `${sha}/${action}`, { branch: target }))[0]).toBe(201);
    const other = await place();
    expect(await post(other, `${made.second}/${action}`, { branch: 'main' }, 'owner').then(([status]) => status)).toBe(
      404,
    );
  });

  it('needs a developer, and a project that is not archived', async () => {
    for (const visibility of ['private', 'internal', 'public'] as const) {
      const made = await place({ visibility });
      for (const caller of ['guest', 'planner', 'reporter'] as const)
        expect(await post(made, `none/${action}`, { branch: 'x' }, caller)).toEqual([
          403,
          { message: '403 Forbidden' },
        ]);
      for (const caller of ['developer', 'maintainer', 'owner', 'admin'] as const)
        expect((await post(made, `none/${action}`, { branch: 'x' }, caller))[0]).toBe(404);
      expect((await post(made, `main/${action}`, { branch: 'x' }, 'stranger'))[0]).toBe(
        visibility === 'private' ? 404 : 403,
      );
      const anonymous = service.app.as(service.seed.anonymous());
      expect((await anonymous.post(`${made.path}/main/${action}`).send({ branch: 'x' })).status).toBe(401);
    }
    for (const over of [{ archived: true }, { repository_access_level: 'disabled' }] as const)
      expect(await post(await place(over), `main/${action}`, { branch: 'main' })).toEqual([
        403,
        { message: '403 Forbidden' },
      ]);
  });

  it('obeys the rules of a protected branch', async () => {
    const made = await place();
    const branch = action === 'revert' ? 'main' : 'old';
    const rules = service.app.as(service.seed.viewer(made.cast.maintainer));
    await rules.post(`/api/v4/projects/${made.project.id}/protected_branches`).send({ name: branch }).expect(201);
    const refusal = [403, { message: '403 Forbidden - You are not allowed to push into this branch' }];
    for (const sha of [made.second, 'none'])
      for (const dry_run of [false, true])
        expect(await post(made, `${sha}/${action}`, { branch, dry_run })).toEqual(refusal);
    expect(tipOf(made, branch)).toBe(action === 'revert' ? made.second : made.first);
    expect((await post(made, `${made.second}/${action}`, { branch }, 'maintainer'))[0]).toBe(201);
  });

  it('loses against a quicker change, and writes nothing over it', async () => {
    const made = await place();
    const branch = action === 'revert' ? 'main' : 'old';
    const intents = service.app.get(RefIntents);
    const record = intents.recordUpdates.bind(intents);
    let quicker = '';
    jest.spyOn(intents, 'recordUpdates').mockImplementationOnce((...args) => {
      quicker = commitFiles(made.repository, { a: 'quicker\n' }, { branch });
      return record(...args);
    });
    expect(await post(made, `${made.second}/${action}`, { branch })).toEqual([
      400,
      { message: `Could not update refs/heads/${branch}. Please refresh and try again.` },
    ]);
    expect(tipOf(made, branch)).toBe(quicker);
  });
});

describe('parameters', () => {
  registerParameterEncodingTests({
    app: () => service.app,
    to: async () => {
      const made = await place();
      const viewer = service.seed.viewer(made.cast.developer);
      const params = { branch: 'old', message: 'Mine', dry_run: false };
      return { viewer, method: 'POST', path: `${made.path}/${made.second}/cherry_pick`, params };
    },
    seen: ({ message, title }) => [message, title],
    expected: ['Mine', 'Mine'],
  });
});
