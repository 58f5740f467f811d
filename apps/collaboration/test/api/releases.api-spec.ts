import type { DirectoryProject } from '@rookery/contracts';
import { NO_OBJECT } from '@rookery/git';
import type { RefUpdate } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import {
  registerProjectDeletionTests,
  GitClient,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { ReleaseTags } from '../../src/work/releases/release-tags';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { GitFront } from '../support/git-front';
import { refsRepository } from '../support/refs-repository';
import type { RefsRepository } from '../support/refs-repository';

let service: SeededService;
let git: GitClient;
let front: GitFront;
let made: RefsRepository;
let cast: Cast;
let developer: Viewer;
let maintainer: Viewer;
let head: string;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  made = await refsRepository(service, git);
  cast = await castOf(service.seed, made.project);
  [developer, maintainer] = [service.seed.viewer(cast.developer), service.seed.viewer(cast.maintainer)];
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  front.accept('maintainer', () => maintainer);
  head = await made.run('rev-parse', 'HEAD');
  await made.place('HEAD:refs/heads/main');
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await service.close();
});

type Body = Record<string, never>;
interface ShownRelease {
  readonly assets: { readonly count: number; readonly sources: unknown; readonly links: unknown };
  readonly author: unknown;
  readonly milestones: unknown;
  readonly _links: object;
  readonly created_at: string;
}
const pathOf = ({ id }: Pick<DirectoryProject, 'id'>, tag?: string) =>
  `/api/v4/projects/${id}/releases${tag === undefined ? '' : `/${encodeURIComponent(tag)}`}`;
const nextTag = () => `v${++at}.0`;
const create = (body: object, viewer = developer, project = made.project) =>
  service.app.as(viewer).post(pathOf(project)).send(body);
const created = async (fields: object = {}, viewer = developer): Promise<Body> =>
  (await create({ tag_name: nextTag(), ref: 'main', ...fields }, viewer).expect(201)).body as Body;
const show = (tag: string, viewer = developer, query: object = {}) =>
  service.app.as(viewer).get(pathOf(made.project, tag)).query(query);
const update = (tag: string, body: object, viewer = developer) =>
  service.app.as(viewer).put(pathOf(made.project, tag)).send(body);
const remove = (tag: string, viewer = developer) => service.app.as(viewer).delete(pathOf(made.project, tag));
const tagPath = (tag = '') => `/api/v4/projects/${made.project.id}/repository/tags${tag && `/${tag}`}`;
const milestone = async (title: string): Promise<number> =>
  (
    (
      await service.app
        .as(maintainer)
        .post(`/api/v4/projects/${made.project.id}/milestones`)
        .send({ title })
        .expect(201)
    ).body as { id: number }
  ).id;

async function protectTag(tag: string): Promise<void> {
  const rule = { name: tag, create_access_level: 40 };
  await service.app.as(maintainer).post(`/api/v4/projects/${made.project.id}/protected_tags`).send(rule).expect(201);
}

describe('a new release', () => {
  it('creates its tag from a ref, and shows everything', async () => {
    const tag = 'rel/1-ü';
    const id = await milestone('First');
    const issue = { title: 'x', milestone_id: id };
    const issues = `/api/v4/projects/${made.project.id}/issues`;
    await service.app.as(maintainer).post(issues).send(issue).expect(201);
    await service.app
      .as(maintainer)
      .post(issues)
      .send({ ...issue, confidential: true })
      .expect(201);
    const answer = await create({
      ...{ tag_name: tag, tag_message: 'Annotated', ref: 'main', name: 'First', description: '# Hi' },
      milestones: ['First'],
      assets: {
        links: [{ name: 'Tool', url: 'https://x.example/t', direct_asset_path: '/bin/t', link_type: 'package' }],
      },
    });
    const encoded = 'rel%2F1-%C3%BC';
    expect(answer.status).toBe(201);
    const [announced] = (await eventsOf(service.database, 'collaboration.release.created.v1')).slice(-1);
    expect(announced).toEqual({
      ...{ release_id: expect.any(Number), project_id: made.project.id, author_id: cast.developer.id },
      created_at: answer.body.created_at,
    });
    // The effects wait until their copy of the directory is as new as that of the request.
    const seen = `select directory_version as version, directory_epoch as epoch from outbox
      where subject = 'collaboration.release.created.v1' order by id desc limit 1`;
    expect(await service.database.query(seen)).toEqual([developer.directory]);
    const { assets, author, milestones, _links: links, ...rest } = answer.body as ShownRelease;
    expect(rest).toEqual({
      ...{ name: 'First', tag_name: tag, description: '# Hi', upcoming_release: false, evidences: [] },
      ...{ created_at: expect.any(String), released_at: rest.created_at },
      commit: expect.objectContaining({ id: head, title: 'First' }),
      commit_path: `/${made.fullPath}/-/commit/${head}`,
      tag_path: `/${made.fullPath}/-/tags/rel/1-%C3%BC`,
    });
    expect(author).toMatchObject({ id: cast.developer.id, username: cast.developer.username });
    expect(milestones).toEqual([expect.objectContaining({ id, title: 'First', issue_stats: { total: 1, closed: 0 } })]);
    expect(assets.count).toBe(5);
    expect(assets.sources).toEqual(
      ['zip', 'tar.gz', 'tar.bz2', 'tar'].map((format) => ({
        format,
        url: expect.stringMatching(
          new RegExp(`/api/v4/projects/${made.project.id}/repository/archive\\.${format}\\?sha=${encoded}$`),
        ),
      })),
    );
    expect(assets.links).toEqual([
      {
        ...{ id: expect.any(Number), name: 'Tool', url: 'https://x.example/t', external: true, link_type: 'package' },
        direct_asset_url: expect.stringContaining(`/releases/${encoded}/downloads/bin/t`),
      },
    ]);
    expect(Object.keys(links)).toEqual([
      ...['self', 'closed_issues_url', 'closed_merge_requests_url', 'merged_merge_requests_url', 'opened_issues_url'],
      ...['opened_merge_requests_url', 'edit_url'],
    ]);
    expect((await show(tag)).body).toEqual(answer.body);
    const { body } = await service.app.as(developer).get(tagPath(encodeURIComponent(tag)));
    expect(body).toMatchObject({ message: 'Annotated', release: { tag_name: tag, description: '# Hi' } });
  });

  it('of an existing tag needs no ref, and its archives can be read', async () => {
    const tag = nextTag();
    await made.place(`HEAD:refs/tags/${tag}`);
    const { body } = await create({ tag_name: tag }).expect(201);
    expect(body).toMatchObject({ name: tag, tag_name: tag, description: null, assets: { count: 4, links: [] } });
    expect(body).not.toHaveProperty('milestones');
    for (const { url } of (body as { assets: { sources: { url: string }[] } }).assets.sources) {
      const { pathname, search } = new URL(url);
      await service.app.as(developer).get(`${pathname}${search}`).expect(200);
    }
  });

  it('of a tag of a blob has no commit', async () => {
    await made.place(`${await made.run('rev-parse', 'HEAD:README.md')}:refs/tags/blob`);
    const { body } = await create({ tag_name: 'blob' }).expect(201);
    expect(body).toMatchObject({ tag_name: 'blob', commit: null });
    expect(body).not.toHaveProperty('commit_path');
  });

  it('may be upcoming or historical', async () => {
    expect(await created({ released_at: '2999-01-01T00:00:00Z' })).toMatchObject({
      ...{ upcoming_release: true, released_at: '2999-01-01T00:00:00.000Z' },
    });
    expect(await created({ released_at: '2001-01-01T00:00:00Z' })).toMatchObject({ upcoming_release: false });
  });

  it.each([
    [{ ref: undefined }, 422, 'Ref is not specified'],
    [{ ref: 'none' }, 400, 'Target none is invalid'],
    [{ tag_name: 'a..b' }, 400, 'Tag name invalid'],
    [{ milestones: 'No, None' }, 400, 'Milestone(s) not found: No, None'],
    [{ milestone_ids: [999_999] }, 400, 'Milestone id(s) not found: 999999'],
    [{ assets: { links: [{ name: '', url: 'https://x' }] } }, 400, "Validation failed: Links name can't be blank"],
    [
      { assets: { links: [{ name: 'x', url: 'javascript:x' }] } },
      400,
      'Validation failed: Links url is blocked: Only allowed schemes are http, https, ftp',
    ],
    [
      { assets: { links: [1, 2].map((one) => ({ name: 'x', url: `https://x/${one}` })) } },
      400,
      'Validation failed: Links have duplicate values (x)',
    ],
  ])('is refused for %j, and leaves no tag', async (fields, status, message) => {
    const before = await made.run('ls-remote', '--tags', 'origin');
    const answer = await create({ tag_name: nextTag(), ref: 'main', ...fields });
    expect([answer.status, answer.body]).toEqual([status, { message }]);
    expect(await made.run('ls-remote', '--tags', 'origin')).toBe(before);
  });

  it('has a name and a description of limited lengths', async () => {
    const texts = { name: 'x'.repeat(256), description: 'x'.repeat(1_000_001) };
    const { status, body } = await create({ tag_name: nextTag(), ref: 'main', ...texts });
    const tooLong = (longest: number) => [`is too long (maximum is ${longest} characters)`];
    expect([status, body]).toEqual([400, { message: { name: tooLong(255), description: tooLong(1_000_000) } }]);
    await created({ name: 'x'.repeat(255), description: 'ü'.repeat(1_000_000) });
  });

  it('needs a tag, and either titles or ids of milestones', async () => {
    expect((await create({})).body).toEqual({ error: 'tag_name is missing' });
    const answer = await create({ tag_name: 'x', milestones: ['x'], milestone_ids: [1] });
    expect(answer.body).toEqual({ error: 'milestones, milestone_ids are mutually exclusive' });
    const links = [{ name: 'x' }];
    expect((await create({ tag_name: 'x', assets: { links } })).body).toEqual({
      error: 'assets[links][0][url] is missing',
    });
  });

  it('is one for a tag, also for concurrent requests', async () => {
    const tag = { tag_name: nextTag(), ref: 'main' };
    const answers = await Promise.all([create(tag), create(tag)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body).toEqual({ message: 'Release already exists' });
  });

  it('obeys the rules for tags', async () => {
    const tag = nextTag();
    await protectTag(tag);
    const answer = await create({ tag_name: tag, ref: 'main' });
    const message = 'You are not allowed to create this tag as it is protected.';
    expect([answer.status, answer.body]).toEqual([403, { message }]);
    await created({ tag_name: tag }, maintainer);
    for (const request of [update(tag, { name: 'x' }), remove(tag)]) {
      const { status, body } = await request;
      expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
    }
  });

  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: developer,
      method: 'POST',
      path: pathOf(made.project),
      params: {
        ...{ tag_name: nextTag(), ref: 'main', description: 'Text', released_at: '2020-01-01T00:00:00Z' },
        assets: { links: [{ name: 'x', url: 'https://x.example/' }] },
      },
    }),
    seen: (body) => [body['description'], body['released_at'], (body['assets'] as { count: number }).count],
    expected: ['Text', '2020-01-01T00:00:00.000Z', 5],
  });
});

describe('a release', () => {
  it('changes', async () => {
    const { tag_name: tag } = await created({ description: 'Old' });
    await milestone('Second');
    const answer = await update(tag!, { name: 'New', released_at: '2020-01-01T00:00:00Z', milestones: ['Second'] });
    expect(answer.body).toMatchObject({
      ...{ name: 'New', description: 'Old', released_at: '2020-01-01T00:00:00.000Z' },
      milestones: [{ title: 'Second', issue_stats: { total: 0, closed: 0 } }],
    });
    const cleared = await update(tag!, { milestones: [], description: null });
    expect(cleared.body).toMatchObject({ name: 'New', description: null });
    expect(cleared.body).not.toHaveProperty('milestones');
    expect([(await update(tag!, {})).body, (await update('none', { name: 'x' })).body]).toEqual([
      { message: 'params is empty' },
      { message: '404 Not Found' },
    ]);
  });

  it('is removed, while its tag remains', async () => {
    const release = await created();
    const tag: string = release['tag_name']!;
    const answer = await remove(tag);
    expect([answer.status, answer.body]).toEqual([200, release]);
    for (const { status, body } of [await remove(tag), await show(tag)])
      expect([status, body]).toEqual([404, { message: '404 Not Found' }]);
    expect((await service.app.as(developer).get(tagPath(tag))).body).toMatchObject({ name: tag, release: null });
  });

  it('goes with its tag, by the API and by git', async () => {
    const [one, two, three] = [await created(), await created(), await created()].map((body) => body['tag_name']!);
    await service.app.as(maintainer).delete(tagPath(one)).expect(204);
    const address = front.url(`${made.fullPath}.git`, 'maintainer');
    expect(await git.run(made.folder, 'push', address, `:refs/tags/${two}`)).toMatchObject({ code: 0 });
    const statuses = await Promise.all([one, two, three].map(async (tag) => (await show(tag!)).status));
    expect(statuses).toEqual([404, 404, 200]);
    await create({ tag_name: two, ref: 'main' }).expect(201);
    expect((await show(two!)).status).toBe(200);
  });

  it('is not made for a tag that is deleted meanwhile', async () => {
    const [tags, tag] = [service.app.get(ReleaseTags), nextTag()];
    const ensure = tags.ensureTag.bind(tags);
    jest.spyOn(tags, 'ensureTag').mockImplementationOnce(async (...args) => {
      const sha = await ensure(...args);
      await service.app.as(maintainer).delete(tagPath(tag)).expect(204);
      return sha;
    });
    const { status, body } = await create({ tag_name: tag, ref: 'main' });
    expect([status, body]).toEqual([404, { message: '404 Tag Not Found' }]);
    expect((await show(tag)).status).toBe(404);
  });

  it('stays if its tag was created again before the deletion is settled', async () => {
    const [tags, tag] = [service.app.get(ReleaseTags), nextTag()];
    await created({ tag_name: tag });
    const [last] = await service.database.query<{ id: number }>('select max(id) as id from pushes');
    await made.place(`:refs/tags/${tag}`);
    const repository = await service.app.get(ProjectRepositories).findRepository(made.project.id);
    const update = { ref: `refs/tags/${tag}`, oldId: head, newId: NO_OBJECT } as RefUpdate;
    const facts = {
      pushId: last!.id,
      projectId: made.project.id,
      userId: null,
      pushedAt: new Date(),
      source: 'git' as const,
      options: [],
    };
    const late = await tags.prepare({ ...facts, repository: repository!, defaultBranch: 'main', updates: [update] });
    await remove(tag).expect(200);
    await created({ tag_name: tag });
    await service.app.get(Work).run((tx) => late!.write(tx));
    expect((await show(tag)).status).toBe(200);
    expect(
      await tags.prepare({ ...facts, repository: repository!, defaultBranch: 'main', updates: [update] }),
    ).toBeNull();
  });

  it('renders its description only on request, without raw HTML and images', async () => {
    const { tag_name: tag } = await created({ description: '**b** <script>x</script> ![i](https://x/i.png)' });
    expect((await show(tag!)).body).not.toHaveProperty('description_html');
    const { body } = await show(tag!, developer, { include_html_description: true });
    const html = (body as Record<string, string>)['description_html']!;
    expect(html).toContain('<strong>b</strong>');
    expect(html).not.toMatch(/<script|<img/);
  });

  it('keeps a milestone only as long as it exists', async () => {
    const id = await milestone('Brief');
    const { tag_name: tag } = await created({ milestone_ids: [id] });
    await service.app.as(maintainer).delete(`/api/v4/projects/${made.project.id}/milestones/${id}`).expect(204);
    expect((await show(tag!)).body).not.toHaveProperty('milestones');
  });
});

describe('lists', () => {
  let place: RefsRepository;
  const names = async (query: object): Promise<unknown[]> =>
    ((await service.app.as(developer).get(pathOf(place.project)).query(query)).body as Body[]).map(
      (one) => one['tag_name'],
    );

  beforeAll(async () => {
    place = await refsRepository(service, git);
    await service.seed.member(cast.developer, place.project, 'developer');
    await place.place('HEAD:refs/heads/main');
    for (const [tag, year] of Object.entries({ b: 2020, c: 2024, a: 2022, e: 2010, d: 2011 }))
      await create(
        { tag_name: tag, ref: 'main', released_at: `${year}-01-01T00:00:00Z` },
        developer,
        place.project,
      ).expect(201);
  });

  it.each([
    [{}, ['c', 'a', 'b', 'd', 'e']],
    [{ sort: 'asc' }, ['e', 'd', 'b', 'a', 'c']],
    [{ order_by: 'created_at' }, ['d', 'e', 'a', 'c', 'b']],
    [{ order_by: 'created_at', sort: 'asc' }, ['b', 'c', 'a', 'e', 'd']],
    [{ updated_after: '2999-01-01' }, []],
    [{ updated_before: '2001-01-01' }, []],
  ])('are ordered by %j', async (query, found) => {
    expect(await names(query)).toEqual(found);
  });

  it('refuse other orders', async () => {
    const { status, body } = await service.app.as(developer).get(pathOf(place.project)).query({ order_by: 'name' });
    expect([status, body]).toEqual([400, { error: 'order_by does not have a valid value' }]);
  });

  registerListPagingTests(() => ({
    app: service.app,
    viewer: developer,
    path: pathOf(place.project),
    query: {},
    rows: 5,
    key: (row: Record<string, unknown>) => row['tag_name'],
  }));

  it('lead to the latest release, and to parts of it', async () => {
    const ask = async (rest: string) => {
      const { status, headers } = await service.app
        .as(developer)
        .get(`${pathOf(place.project)}/permalink/latest${rest}`);
      return [status, headers['location'] && new URL(headers['location'] as string).href.split('/api/v4')[1]];
    };
    const base = `/projects/${place.project.id}/releases/c`;
    expect(await ask('')).toEqual([302, base]);
    expect(await ask('?include_html_description=true&private_token=x')).toEqual([
      302,
      `${base}?include_html_description=true`,
    ]);
    expect(await ask('/downloads/bin/t')).toEqual([302, `${base}/downloads/bin/t`]);
    for (const rest of ['/..%2F..%2F..%2F..%2Fuser', '/downloads/%2E%2E/%2e%2E', '/a%2F.%2Fb', '/..'])
      expect([rest, (await ask(rest))[1] ?? '']).toEqual([rest, expect.stringMatching(/^$|releases\/c/)]);
    const { project } = await refsRepository(service, git);
    const none = await service.app.as(developer).get(`${pathOf(project)}/permalink/latest`);
    expect([none.status, none.body]).toEqual([404, { message: '404 Not Found' }]);
  });
});

describe('access', () => {
  const isReader = (standing: string) => /reporter|developer|maintainer|owner|admin/.test(standing);
  async function filled(level: 'private' | 'internal' | 'public', standing: string, over: object = {}) {
    const { project, place } = await refsRepository(service, git, { visibility: level, ...over });
    await place('HEAD:refs/heads/main', 'HEAD:refs/tags/v1');
    const own = await castOf(service.seed, project);
    await create({ tag_name: 'v1' }, service.seed.viewer(own.admin), project);
    const user = own[standing === 'outsider' ? 'stranger' : (standing as keyof Cast)];
    return { project, viewer: standing === 'anonymous' ? service.seed.anonymous() : service.seed.viewer(user) };
  }

  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const { project, viewer } = await filled(level, standing);
      return { viewer, path: pathOf(project, 'v1') };
    },
    seen: (standing, level) => (level !== 'private' || isReader(standing) ? 200 : 403),
  });

  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const { project, viewer } = await filled(level, standing);
      return { viewer, method: 'POST', path: pathOf(project), body: { tag_name: 'v2', ref: 'main' } };
    },
    anonymous: 401,
    seen: (standing) => (/developer|maintainer|owner|admin/.test(standing) ? 201 : 403),
  });

  it('without the right to read code reveals nothing of it', async () => {
    const { project, viewer } = await filled('private', 'guest');
    const { status, body } = await service.app.as(viewer).get(pathOf(project));
    const [release] = body as Body[];
    expect([status, Object.keys(release!)]).toEqual([
      200,
      ['name', 'description', 'created_at', 'released_at', 'author', 'upcoming_release', 'assets', '_links'],
    ]);
    expect(release).toMatchObject({ name: expect.stringMatching(/^Release-\d+$/), assets: { count: 0, links: [] } });
    expect(JSON.stringify(release)).not.toContain('v1');
  });

  it.each(['disabled', 'private'] as const)('is refused where the repository is %s', async (access) => {
    const { project, viewer } = await filled('public', 'anonymous', { repository_access_level: access });
    for (const path of [pathOf(project), pathOf(project, 'v1'), `${pathOf(project)}/permalink/latest`]) {
      const { status, body } = await service.app.as(viewer).get(path);
      expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
    }
  });

  it('does not change archived projects', async () => {
    const { project, viewer } = await filled('public', 'owner', { archived: true });
    const { status, body } = await create({ tag_name: 'v2', ref: 'main' }, viewer, project);
    expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const { project, viewer } = await filled('private', 'developer');
      const own = await service.seed.user();
      await service.seed.member(own, project, 'reporter');
      return {
        ...{ method: 'PUT', path: pathOf(project, 'v1'), good: { name: 'x' }, bad: { released_at: 'x' } },
        ...{ anonymous: service.seed.anonymous(), outsider: service.seed.viewer(cast.stranger) },
        ...{ reader: service.seed.viewer(own), allowed: viewer },
      };
    },
  );
});

describe('removal', () => {
  registerProjectDeletionTests({
    service: () => service,
    effect: 'drop-releases',
    tables: ['releases', 'release_links'],
    async fill(owner, project) {
      const content = { branch: 'main', commit_message: 'x', content: 'x' };
      await owner.post(`/api/v4/projects/${project.id}/repository/files/a`).send(content).expect(201);
      const assets = { links: [{ name: 'x', url: 'https://x.example/' }] };
      await owner.post(pathOf(project)).send({ tag_name: 'v1', ref: 'main', assets }).expect(201);
    },
  });
});
