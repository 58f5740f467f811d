import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { GitClient, registerParameterEncodingTests, registerVisibilityTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { refsRepository } from '../support/refs-repository';
import type { RefsRepository } from '../support/refs-repository';

let service: SeededService;
let git: GitClient;
let made: RefsRepository;
let cast: Cast;
let developer: Viewer;
let maintainer: Viewer;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  made = await refsRepository(service, git);
  cast = await castOf(service.seed, made.project);
  [developer, maintainer] = [service.seed.viewer(cast.developer), service.seed.viewer(cast.maintainer)];
  await made.place('HEAD:refs/heads/main', 'HEAD:refs/tags/a/b');
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const tagsPath = ({ id }: Pick<DirectoryProject, 'id'>, name?: string) =>
  `/api/v4/projects/${id}/repository/tags${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
const nextName = () => `t${++at}`;
const create = (body: object, viewer = developer, project = made.project) =>
  service.app.as(viewer).post(tagsPath(project)).send(body);
const remove = (name: string, viewer = maintainer) => service.app.as(viewer).delete(tagsPath(made.project, name));
const tags = async (): Promise<string> => made.run('ls-remote', '--tags', 'origin');

describe('a new tag', () => {
  it.each(['v1.0', 'release/ü', 'a"b', '#1'])('named %s is lightweight without a message', async (name) => {
    const answer = await create({ tag_name: name, ref: 'main', message: ' \n' });
    const id = await made.run('rev-parse', 'main');
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        ...{ name, message: null, target: id, release: null, protected: false, created_at: null },
        commit: expect.objectContaining({ id }),
      },
    ]);
    expect((await service.app.as(developer).get(tagsPath(made.project, name))).body).toEqual(answer.body);
    expect((await remove(name)).status).toBe(204);
  });

  it('with a message is annotated by the caller', async () => {
    const name = nextName();
    const { status, body } = await create({ tag_name: name, ref: 'main', message: 'Ünder\n\nBody' });
    const tag = body as { target: string; commit: { id: string }; created_at: string };
    expect([status, body]).toMatchObject([201, { name, message: 'Ünder\n\nBody' }]);
    expect(tag.target).not.toBe(tag.commit.id);
    expect(tag.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000\+00:00$/);
    await made.run('fetch', '--quiet', '--tags', 'origin');
    expect(
      await made.run('for-each-ref', '--format=%(objecttype) %(taggername) %(contents)', `refs/tags/${name}`),
    ).toBe(`tag ${cast.developer.name} Ünder\n\nBody`);
    await made.run('fsck', '--strict');
  });

  it.each([
    [{ tag_name: 'a/b', ref: 'main' }, 'Tag a/b already exists'],
    [{ tag_name: 'a..b', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: '', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: 'a b', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: 'x', ref: ' ' }, 'Target is empty'],
    [{ tag_name: 'x', ref: 'none' }, 'Target none is invalid'],
    [{ tag_name: 'x', ref: '--all' }, 'Target --all is invalid'],
    [{ tag_name: '-x', ref: 'main' }, 'You cannot create a tag with a prohibited pattern.'],
    [{ tag_name: 'a'.repeat(40), ref: 'main' }, 'You cannot create a tag with a SHA-1 or SHA-256 tag name.'],
    [{ tag_name: 'main', ref: 'main' }, 'You cannot use default branch name to create a tag'],
    [{ tag_name: 'a', ref: 'main' }, 'Could not update refs/tags/a. Please refresh and try again.'],
  ])('is refused for %j', async (body, message) => {
    const before = await tags();
    const answer = await create({ ...body, message: 'Text' });
    expect([answer.status, answer.body]).toEqual([400, { message }]);
    expect(await tags()).toBe(before);
  });

  it('needs its parameters, and a commit', async () => {
    expect((await create({})).body).toEqual({ error: 'tag_name is missing, ref is missing' });
    const { project } = await refsRepository(service, git);
    await service.seed.member(cast.developer, project, 'developer');
    const { status, body } = await create({ tag_name: 'x', ref: 'main' }, developer, project);
    expect([status, body]).toEqual([400, { message: 'Target main is invalid' }]);
  });

  it('that two requests create at once is created once', async () => {
    const tag = { tag_name: nextName(), ref: 'main' };
    const answers = await Promise.all([create(tag), create(tag)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    const refused = answers.find(({ status }) => status === 400)!;
    expect(refused.body).toEqual({ message: `Tag ${tag.tag_name} already exists` });
  });

  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: developer,
      method: 'POST',
      path: tagsPath(made.project),
      params: { tag_name: nextName(), ref: 'main', message: 'Text' },
    }),
    seen: (body) => body['message'],
    expected: 'Text',
  });
});

describe('the deletion of a tag', () => {
  it('answers 204, then 404', async () => {
    const name = nextName();
    await create({ tag_name: name, ref: 'main', message: 'Text' });
    expect((await remove(name)).status).toBe(204);
    expect([(await remove(name)).status, (await remove(name)).body]).toEqual([404, { message: '404 Tag Not Found' }]);
    expect((await remove('a..b')).body).toEqual({ message: '404 Tag Not Found' });
  });

  it('is for maintainers', async () => {
    const { status, body } = await remove('a/b', developer);
    const message = '403 Forbidden - You are not allowed to change existing tags on this project.';
    expect([status, body]).toEqual([403, { message }]);
    expect(await tags()).toContain('refs/tags/a/b');
  });

  it('compares If-Unmodified-Since with the date of the commit', async () => {
    const ask = (date: string) => remove('a/b').set('If-Unmodified-Since', date);
    const { status, body } = await ask('Thu, 01 Jan 2015 00:00:00 GMT');
    expect([status, body]).toEqual([412, { message: '412 Precondition Failed' }]);
    expect((await ask('Thu, 01 Jan 2099 00:00:00 GMT')).status).toBe(204);
    await made.place('HEAD:refs/tags/a/b');
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
      return { viewer, method: 'POST', path: tagsPath(project), body: { tag_name: 'x', ref: 'main' } };
    },
    anonymous: 401,
    seen: (standing) => (/developer|maintainer|owner|admin/.test(standing) ? 201 : 403),
  });

  it('need a project that is not archived', async () => {
    const { project, place } = await refsRepository(service, git, { archived: true });
    await place('HEAD:refs/heads/main', 'HEAD:refs/tags/x');
    await service.seed.member(cast.owner, project, 'owner');
    const owner = service.app.as(service.seed.viewer(cast.owner));
    const answers = [
      await owner.post(tagsPath(project)).send({ tag_name: 'y', ref: 'main' }),
      await owner.delete(tagsPath(project, 'x')),
    ];
    for (const { status, body } of answers) expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  });
});
