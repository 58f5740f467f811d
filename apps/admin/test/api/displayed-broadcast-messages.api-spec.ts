import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests } from '@rookery/testing';
import type { SeededService, TestApp } from '@rookery/testing';
import { startAdmin } from '../support/app';

const PATH = '/api/v4/broadcast_messages/displayed';
const FEATURE = '/api/v4/features/role_targeted_broadcast_messages';

let service: SeededService;
let app: TestApp;
let root: Viewer;
let plainUser: Viewer;
let developer: Viewer;
let project: DirectoryProject;

beforeAll(async () => {
  service = await startAdmin();
  ({ app } = service);
  const { seed } = service;
  root = seed.viewer(await seed.user({ admin: true }));
  plainUser = seed.anonymous();
  const person = await seed.user();
  project = await seed.project({ visibility: 'public', path: 'eggs' });
  await seed.member(person, project, 'developer');
  developer = seed.viewer(person);
});
afterAll(() => service.close());
beforeEach(async () => {
  await service.database.query('delete from broadcast_messages');
  await app.as(root).delete(FEATURE).expect(204);
});

async function createMessage(params: object = {}): Promise<number> {
  const { body } = await app
    .as(root)
    .post('/api/v4/broadcast_messages')
    .send({ message: 'Tea', ...params })
    .expect(201);
  return (body as { id: number }).id;
}
async function listDisplayedIds(query: object = {}, viewer = plainUser): Promise<number[]> {
  const { body } = await app.as(viewer).get(PATH).query(query).expect(200);
  return (body as { id: number }[]).map(({ id }) => id);
}
const isDisplayedAtPath = async (pattern: string, path: string): Promise<boolean> => {
  const id = await createMessage({ target_path: pattern });
  const found = await listDisplayedIds({ path });
  await app.as(root).delete(`/api/v4/broadcast_messages/${id}`).expect(204);
  return found.includes(id);
};

it('shows active messages to all callers, newest first, in the same shape as the other reads', async () => {
  const past = { starts_at: '2020-01-01T00:00:00Z', ends_at: '2020-01-02T00:00:00Z' };
  const later = { starts_at: '2999-01-01T00:00:00Z', ends_at: '2999-01-02T00:00:00Z' };
  await createMessage(past);
  await createMessage(later);
  await createMessage({ starts_at: later.starts_at, ends_at: past.ends_at });
  const [first, second] = [
    await createMessage(),
    await createMessage({ broadcast_type: 'notification', theme: 'red' }),
  ];
  expect(await listDisplayedIds()).toEqual([second, first]);
  const { body } = await app.as(plainUser).get(PATH).expect(200);
  expect(body[0]).toEqual((await app.as(plainUser).get(`/api/v4/broadcast_messages/${second}`)).body);
  expect(body[0]).toMatchObject({ active: true });
});

describe('the path', () => {
  it.each([
    ['/docs/*', '/docs/a/b', true],
    ['/docs/*', '/docs/', true],
    ['/docs/*', '/docs', false],
    ['/docs/*', '/my/docs/a', false],
    ['*/docs', '/my/docs', true],
    ['*/docs', '/my/docs/a', false],
    ['/a/*/c', '/a/b/b/c', true],
    ['/Docs', '/dOCS', true],
    ['/docs', 'docs', true],
    ['/docs', '/docs/', false],
    ['docs', '/docs', false],
    ['*', '/', true],
    ['/a_b%', '/axbyy', false],
    ['/a_b%', '/A_B%', true],
    ['/a\\*', '/a\\b', true],
    ['/a.(b)+[c]?', '/a.(b)+[c]?', true],
    ['/a.b', '/axb', false],
    ['/**', '/', true],
    ['/Straße/é*', '/straße/Éa', true],
  ])('%s and %s: %s', async (pattern, path, expected) => {
    expect(await isDisplayedAtPath(pattern, path)).toBe(expected);
  });

  it('without a path: only messages without a target path are listed', async () => {
    await createMessage({ target_path: '*' });
    const plain = [
      await createMessage({ target_path: ' ' }),
      await createMessage({ target_path: '' }),
      await createMessage(),
    ];
    expect(await listDisplayedIds()).toEqual(plain.toReversed());
    expect(await listDisplayedIds({ path: '' })).toEqual(plain.toReversed());
    expect(await listDisplayedIds({ path: '/x' })).toHaveLength(4);
  });

  it('path and pattern have maximum lengths, so that hostile ones cost little', async () => {
    const hostile = { target_path: '*a'.repeat(127) + 'b' };
    await createMessage(hostile);
    expect(await listDisplayedIds({ path: `/${'a'.repeat(2047)}` })).toEqual([]);
    const tooLong = (most: number) => `is too long (maximum is ${most} characters)`;
    for (const target_path of ['x'.repeat(256), '*a'.repeat(500_000)]) {
      const refused = await app.as(root).post('/api/v4/broadcast_messages').send({ message: 'Tea', target_path });
      expect([refused.status, refused.body]).toEqual([400, { message: { target_path: [tooLong(255)] } }]);
    }
    const { status, body } = await app
      .as(plainUser)
      .get(PATH)
      .query({ path: 'x'.repeat(2049) });
    expect([status, body]).toEqual([400, { error: `path ${tooLong(2048)}` }]);
  });
});

describe('messages for roles', () => {
  const turn = (value: unknown, more: object = {}) =>
    app
      .as(root)
      .post(FEATURE)
      .send({ value, ...more })
      .expect(201);

  it('are hidden while the feature is off', async () => {
    const plain = await createMessage();
    await createMessage({ target_access_levels: [30] });
    expect(await listDisplayedIds({ project_id: project.id }, developer)).toEqual([plain]);
    expect(await listDisplayedIds({ project_id: project.id }, root)).toEqual([plain]);
  });

  it('are shown to users with one of these roles in the project while the feature is on', async () => {
    await turn(true);
    const plain = await createMessage();
    const [forDevelopers, forMore] = [
      await createMessage({ target_access_levels: [30] }),
      await createMessage({ target_access_levels: [10, 30, 40] }),
    ];
    await createMessage({ target_access_levels: [10, 40] });
    expect(await listDisplayedIds({ project_id: project.id }, developer)).toEqual([forMore, forDevelopers, plain]);
    // The role is unknown without a project or group, and an administrator who is not a member has none.
    for (const [query, viewer] of [
      [{}, developer],
      [{ project_id: project.id }, plainUser],
      [{ project_id: project.id }, root],
    ] as const) {
      expect(await listDisplayedIds(query, viewer)).toEqual([plain]);
    }
  });

  it('use the role in a group as well', async () => {
    await turn(true);
    const { seed } = service;
    const group = await seed.group({ path: `nest-${project.id}` });
    const below = await seed.project({ namespace_id: group.id, path: 'below', visibility: 'private' });
    const owner = await seed.user();
    await seed.member(owner, group, 'owner');
    const id = await createMessage({ target_access_levels: [50] });
    const viewer = seed.viewer(owner);
    expect(await listDisplayedIds({ group_id: group.id }, viewer)).toEqual([id]);
    expect(await listDisplayedIds({ group_id: `nest-${project.id}` }, viewer)).toEqual([id]);
    expect(await listDisplayedIds({ project_id: below.id }, viewer)).toEqual([id]);
    expect(await listDisplayedIds({ project_id: project.id }, viewer)).toEqual([]);
  });

  it('are shown to users for whom the feature is on', async () => {
    const { seed } = service;
    const [wren, robin] = [await seed.user({ username: 'wren' }), await seed.user({ username: 'robin' })];
    for (const one of [wren, robin]) await seed.member(one, project, 'reporter');
    await turn(true, { user: 'wren' });
    const id = await createMessage({ target_access_levels: [20] });
    expect(await listDisplayedIds({ project_id: project.id }, seed.viewer(wren))).toEqual([id]);
    expect(await listDisplayedIds({ project_id: project.id }, seed.viewer(robin))).toEqual([]);
  });

  it('answer 404 for a project or group that the caller cannot see', async () => {
    const { seed } = service;
    const hidden = await seed.project({ visibility: 'private' });
    const group = await seed.group({ visibility: 'private' });
    for (const [query, noun] of [
      [{ project_id: hidden.id }, 'Project'],
      [{ project_id: 999_999 }, 'Project'],
      [{ group_id: group.id }, 'Group'],
    ] as const) {
      for (const viewer of [plainUser, developer]) {
        const { status, body } = await app.as(viewer).get(PATH).query(query);
        expect([status, body]).toEqual([404, { message: `404 ${noun} Not Found` }]);
      }
    }
  });

  it('refuse project_id together with group_id', async () => {
    const { status, body } = await app.as(developer).get(PATH).query({ project_id: 1, group_id: 1 });
    expect([status, body]).toEqual([400, { error: 'project_id, group_id are mutually exclusive' }]);
  });
});

describe('pages', () => {
  beforeEach(async () => {
    for (let index = 0; index < 5; index += 1) {
      await createMessage({ target_path: '/nests/*' });
      await createMessage({ target_path: '/eggs' });
    }
  });
  registerListPagingTests(() => ({ app, viewer: plainUser, path: PATH, query: { path: '/nests/7' }, rows: 5 }));
});
