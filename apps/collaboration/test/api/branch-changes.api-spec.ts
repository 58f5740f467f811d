import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { GitClient, registerParameterEncodingTests, registerVisibilityTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { refsRepository } from '../support/refs-repository';
import type { RefsRepository } from '../support/refs-repository';

let service: SeededService;
let git: GitClient;
let made: RefsRepository;
let cast: Cast;
let developer: Viewer;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  made = await refsRepository(service, git);
  cast = await castOf(service.seed, made.project);
  developer = service.seed.viewer(cast.developer);
  await made.place('HEAD:refs/heads/main', 'HEAD:refs/heads/a/b', 'HEAD:refs/tags/v1');
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const pathOf = ({ id }: Pick<DirectoryProject, 'id'>, rest = '/branches') => `/api/v4/projects/${id}/repository${rest}`;
const nextName = () => `made-${++at}`;
const create = (body: object, viewer = developer, project = made.project) =>
  service.app.as(viewer).post(pathOf(project)).send(body);
const remove = (name: string, viewer = developer, project = made.project) =>
  service.app.as(viewer).delete(pathOf(project, `/branches/${encodeURIComponent(name)}`));
const heads = async (from: RefsRepository): Promise<string[]> =>
  (await from.run('ls-remote', '--heads', 'origin')).split('\n').map((line) => line.split('refs/heads/')[1] ?? '');

describe('a new branch', () => {
  it.each(['feature/x', 'ü/ö', 'a"b', 'a%b', 'v1.0', '#1'])(
    'named %s begins at a branch, and is shown',
    async (name) => {
      const answer = await create({ branch: name, ref: 'main' });
      const id = await made.run('rev-parse', 'main');
      expect([answer.status, answer.body]).toEqual([
        201,
        expect.objectContaining({
          name,
          merged: true,
          default: false,
          can_push: true,
          commit: expect.objectContaining({ id }),
        }),
      ]);
      const shown = await service.app.as(developer).get(pathOf(made.project, `/branches/${encodeURIComponent(name)}`));
      expect(shown.body).toEqual(answer.body);
      expect((await remove(name)).status).toBe(204);
    },
  );

  it('begins at a tag, a commit, an abbreviation, HEAD and full names', async () => {
    const id = await made.run('rev-parse', 'main');
    for (const ref of ['v1', 'refs/tags/v1', id, id.slice(0, 8), 'HEAD', 'refs/heads/main']) {
      const { status, body } = await create({ branch: nextName(), ref });
      expect([ref, status, (body as { commit: { id: string } }).commit.id]).toEqual([ref, 201, id]);
    }
  });

  it.each([
    [{ branch: 'main', ref: 'main' }, 'Branch already exists'],
    [{ branch: 'a..b', ref: 'main' }, 'Branch name is invalid'],
    [{ branch: 'a b', ref: 'main' }, 'Branch name is invalid'],
    [{ branch: 'x'.repeat(300), ref: 'main' }, 'Branch name is invalid'],
    [{ branch: '-x', ref: 'main' }, 'You cannot create a branch with an invalid name.'],
    [{ branch: 'HEAD', ref: 'main' }, 'Branch name is invalid'],
    [
      { branch: 'a'.repeat(40), ref: 'main' },
      'You cannot create a branch with a 40-character hexadecimal branch name.',
    ],
    [{ branch: 'y', ref: 'none' }, "Failed to create branch 'y': invalid reference name 'none'"],
    [{ branch: 'y', ref: '--all' }, "Failed to create branch 'y': invalid reference name '--all'"],
    [{ branch: 'y', ref: 'a..b' }, "Failed to create branch 'y': invalid reference name 'a..b'"],
    [
      { branch: 'a', ref: 'main' },
      "Failed to create branch 'a': Branch name conflicts with existing branch hierarchy.",
    ],
    [
      { branch: 'main/x', ref: 'main' },
      "Failed to create branch 'main/x': Branch name conflicts with existing branch hierarchy.",
    ],
  ])('is refused for %j', async (body, message) => {
    const before = await heads(made);
    const answer = await create(body);
    expect([answer.status, answer.body]).toEqual([400, { message }]);
    expect(await heads(made)).toEqual(before);
  });

  it.each([
    [{}, 'branch is missing, ref is missing'],
    [{ branch: ' ', ref: 'main' }, 'branch is empty'],
    [{ branch: 'x', ref: '' }, 'ref is empty'],
  ])('needs its parameters: %j', async (body, error) => {
    expect((await create(body)).body).toEqual({ error });
  });

  it('that two requests create at once is created once', async () => {
    const branch = nextName();
    const answers = await Promise.all([create({ branch, ref: 'main' }), create({ branch, ref: 'main' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(answers.find(({ status }) => status === 400)!.body).toEqual({ message: 'Branch already exists' });
  });

  it('is a push event of the caller', async () => {
    const { project, place } = await refsRepository(service, git);
    await place('HEAD:refs/heads/main');
    await service.seed.member(cast.developer, project, 'developer');
    expect((await create({ branch: 'x', ref: 'main' }, developer, project)).status).toBe(201);
    expect((await remove('x', developer, project)).status).toBe(204);
    const events = (await eventsOf(service.database, 'collaboration.push.completed.v1')).filter(
      (event) => event['project_id'] === project.id,
    );
    expect(events).toMatchObject([{ user_id: cast.developer.id }, { user_id: cast.developer.id }]);
    const updates = await service.database.query(
      `select u.ref, u.state, p.source from ref_updates u join pushes p on p.id = u.push_id where p.project_id = $1`,
      [project.id],
    );
    const done = { ref: 'refs/heads/x', state: 'done', source: 'api' };
    expect(updates).toEqual([done, done]);
  });

  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: developer,
      method: 'POST',
      path: pathOf(made.project),
      params: { branch: nextName(), ref: 'main' },
    }),
    seen: (body) => body['merged'],
    expected: true,
  });
});

describe('an empty repository', () => {
  it.each(['main', 'HEAD', 'refs/heads/main'])('gets a default branch with a README for %s', async (ref) => {
    const empty = await refsRepository(service, git);
    const maintainer = service.seed.viewer(cast.maintainer);
    await service.seed.member(cast.maintainer, empty.project, 'maintainer');
    const { status, body } = await create({ branch: 'x', ref }, maintainer, empty.project);
    expect([status, body]).toMatchObject([201, { name: 'x', merged: true, commit: { message: 'Add README.md' } }]);
    expect(await heads(empty)).toEqual(['main', 'x']);
    await empty.run('fetch', '--quiet', 'origin');
    expect(await empty.run('ls-tree', '-r', '--long', 'origin/x')).toMatch(/^100644 blob \w+ +0\tREADME\.md$/);
    expect(await empty.run('log', '-1', '--format=%an %ae', 'origin/x')).toContain(cast.maintainer.name);
  });

  it('gets its default branch by name, and nothing for another ref', async () => {
    const empty = await refsRepository(service, git, { default_branch: 'trunk' });
    const maintainer = service.seed.viewer(cast.maintainer);
    await service.seed.member(cast.maintainer, empty.project, 'maintainer');
    const refused = await create({ branch: 'x', ref: 'main' }, maintainer, empty.project);
    expect(refused.body).toEqual({ message: "Failed to create branch 'x': invalid reference name 'main'" });
    expect(await heads(empty)).toEqual(['']);
    const { status, body } = await create({ branch: 'trunk', ref: 'trunk' }, maintainer, empty.project);
    expect([status, body]).toMatchObject([201, { name: 'trunk', default: true }]);
    expect(await heads(empty)).toEqual(['trunk']);
  });
});

describe('the deletion of a branch', () => {
  it('answers 204, then 404', async () => {
    const branch = nextName();
    await create({ branch, ref: 'main' });
    expect([(await remove(branch)).status, (await remove(branch)).status]).toEqual([204, 404]);
    expect((await remove(branch)).body).toEqual({ message: '404 Branch Not Found' });
    expect((await remove('a..b')).body).toEqual({ message: '404 Branch Not Found' });
    expect(await heads(made)).not.toContain(branch);
  });

  it('is refused for the default branch', async () => {
    const { status, body } = await remove('main');
    expect([status, body]).toEqual([400, { message: 'The default branch of a project cannot be deleted.' }]);
  });

  it('compares If-Unmodified-Since with the date of the commit', async () => {
    const branch = nextName();
    await create({ branch, ref: 'main' });
    const ask = (date: string) => remove(branch).set('If-Unmodified-Since', date);
    const { status, body } = await ask('Thu, 01 Jan 2015 00:00:00 GMT');
    expect([status, body]).toEqual([412, { message: '412 Precondition Failed' }]);
    expect(await heads(made)).toContain(branch);
    expect((await ask('Thu, 01 Jan 2099 00:00:00 GMT')).status).toBe(204);
  });
});

describe('merged branches', () => {
  it('are deleted, others stay', async () => {
    const repository = await refsRepository(service, git);
    await service.seed.member(cast.developer, repository.project, 'developer');
    await repository.place('HEAD:refs/heads/old', 'HEAD:refs/heads/feature/x');
    await git.commit(repository.folder, 'Second');
    await repository.place('HEAD:refs/heads/main', 'HEAD:refs/heads/same');
    await git.commit(repository.folder, 'Third');
    await repository.place('HEAD:refs/heads/open');
    const ask = () => service.app.as(developer).delete(pathOf(repository.project, '/merged_branches'));
    const { status, body } = await ask();
    expect([status, body]).toEqual([202, { message: '202 Accepted' }]);
    expect(await heads(repository)).toEqual(['main', 'open']);
    expect((await ask()).status).toBe(202);
    const empty = await refsRepository(service, git);
    await service.seed.member(cast.developer, empty.project, 'developer');
    const none = await service.app.as(developer).delete(pathOf(empty.project, '/merged_branches'));
    expect(none.status).toBe(202);
  });

  it('of open merge requests stay', async () => {
    const repository = await refsRepository(service, git);
    await service.seed.member(cast.developer, repository.project, 'developer');
    const place = (...names: string[]) => repository.place(...names.map((name) => `HEAD:refs/heads/${name}`));
    await place('main', 'source', 'target', 'closed', 'gone');
    await git.commit(repository.folder, 'Second');
    await place('source', 'closed');
    const request = async (source: string, target: string) => {
      const body = { source_branch: source, target_branch: target, title: source };
      const path = `/api/v4/projects/${repository.project.id}/merge_requests`;
      const made = await service.app.as(developer).post(path).send(body).expect(201);
      return `${path}/${(made.body as { iid: number }).iid}`;
    };
    await request('source', 'target');
    const closed = await request('closed', 'main');
    await service.app.as(developer).put(closed).send({ state_event: 'close' }).expect(200);
    await place('main');
    await service.app.as(developer).delete(pathOf(repository.project, '/merged_branches')).expect(202);
    expect(await heads(repository)).toEqual(['main', 'source', 'target']);
  });

  it('that two requests delete are deleted once', async () => {
    const repository = await refsRepository(service, git);
    await service.seed.member(cast.developer, repository.project, 'developer');
    const names = Array.from({ length: 120 }, (_, index) => `HEAD:refs/heads/b${index}`);
    await repository.place('HEAD:refs/heads/main', ...names);
    const ask = () => service.app.as(developer).delete(pathOf(repository.project, '/merged_branches'));
    const answers = await Promise.all([ask(), ask()]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(await heads(repository)).toEqual(['main']);
  });
});

describe('writers', () => {
  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const { project, place } = await refsRepository(service, git, { visibility: level });
      await place('HEAD:refs/heads/main');
      const own = await castOf(service.seed, project);
      const user = own[standing === 'outsider' ? 'stranger' : (standing as keyof Cast)];
      const viewer = standing === 'anonymous' ? service.seed.anonymous() : service.seed.viewer(user);
      return { viewer, method: 'POST', path: pathOf(project), body: { branch: 'x', ref: 'main' } };
    },
    anonymous: 401,
    seen: (standing) => (/developer|maintainer|owner|admin/.test(standing) ? 201 : 403),
  });

  it('need a project that is not archived, with a repository', async () => {
    for (const over of [{ archived: true }, { repository_access_level: 'disabled' as const }]) {
      const { project, place } = await refsRepository(service, git, over);
      await place('HEAD:refs/heads/main', 'HEAD:refs/heads/x');
      await service.seed.member(cast.owner, project, 'owner');
      const owner = service.app.as(service.seed.viewer(cast.owner));
      for (const request of [
        owner.post(pathOf(project)).send({ branch: 'y', ref: 'main' }),
        owner.delete(pathOf(project, '/branches/x')),
        owner.delete(pathOf(project, '/merged_branches')),
      ])
        expect([(await request).status, (await request).body]).toEqual([403, { message: '403 Forbidden' }]);
    }
  });

  it.each(['reporter', 'guest'] as const)('that are %ss change nothing', async (role) => {
    const viewer = service.seed.viewer(cast[role]);
    const before = await heads(made);
    expect((await create({ branch: 'no', ref: 'main' }, viewer)).status).toBe(403);
    expect((await remove('a/b', viewer)).status).toBe(403);
    const merged = await service.app.as(viewer).delete(pathOf(made.project, '/merged_branches'));
    expect([merged.status, merged.body]).toEqual([403, { message: '403 Forbidden' }]);
    expect(await heads(made)).toEqual(before);
  });
});
