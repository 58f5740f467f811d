import type { DirectoryNamespace } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Method, SeededService, RoleCase } from '@rookery/testing';
import type { Response } from 'supertest';
import { ROLES, startCollaboration } from '../support/app';
import { planningPlaces } from '../support/planning-places';
import type { Kind, Place } from '../support/planning-places';

interface ShownLabel {
  readonly id: number;
  readonly name: string;
}

let service: SeededService;
let serial = 0;
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());

const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const { as, at, listedBy, placeOf, refusedAt, seeded, standingIn, viewerIn } = planningPlaces(() => service, 'labels');
const add = async ({ path, owner }: Place, fields: Record<string, unknown> = {}): Promise<ShownLabel> =>
  (
    await as(owner)
      .post(path)
      .send({ name: `label ${++serial}`, ...fields })
      .expect(201)
  ).body as ShownLabel;
const namesIn = async ({ path, owner }: Place, query: Record<string, unknown> = {}): Promise<string[]> =>
  ((await as(owner).get(path).query(query).expect(200)).body as ShownLabel[]).map((label) => label.name);

describe.each<Kind>(['project', 'group'])('labels of a %s', (kind) => {
  let place: Place;
  beforeAll(async () => void (place = await placeOf(kind, 'private')));

  it('are created, shown, listed, changed and deleted', async () => {
    const own = await placeOf(kind);
    const made = await as(own.owner)
      .post(own.path)
      .send({ name: ' to do: now? ', color: '#FFAABB', description: 'A **word** <b>' });
    const whole = {
      id: expect.any(Number),
      name: 'to do: now?',
      description: 'A **word** <b>',
      description_html: 'A <strong>word</strong> &lt;b&gt;',
      text_color: '#1F1E24',
      color: '#FFAABB',
      archived: false,
      subscribed: false,
      priority: null,
      is_project_label: kind === 'project',
    };
    expect(answerOf(made)).toEqual([201, whole]);
    const { id } = made.body as ShownLabel;
    const byName = `${own.path}/to%20do%3A%20now%3F`;
    for (const path of [`${own.path}/${id}`, byName]) {
      expect(answerOf(await as(own.owner).get(path))).toEqual([200, whole]);
    }
    await as(own.owner).head(byName).expect(200);
    expect(answerOf(await as(own.owner).get(own.path))).toEqual([200, [whole]]);
    const changed = { ...whole, name: 'later', color: '#FF0000', text_color: '#FFFFFF', archived: true };
    const change = { new_name: 'later', color: 'red', archived: true };
    expect(answerOf(await as(own.owner).put(byName).send(change))).toEqual([200, changed]);
    const plain = { ...changed, description: null, description_html: '' };
    expect(answerOf(await as(own.owner).put(`${own.path}/later`).send({ description: null }))).toEqual([200, plain]);
    const removed = await as(own.owner).delete(`${own.path}/later`).set('Content-Type', 'application/json');
    expect([removed.status, removed.text]).toEqual([204, '']);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const again = requestOf(as(own.owner), method, `${own.path}/${id}`).send({ color: '#fff' });
      expect(answerOf(await again)).toEqual([404, { message: '404 Label Not Found' }]);
    }
  });

  it('are changed and deleted on the path of the list, by name or id', async () => {
    const own = await placeOf(kind);
    const { id } = await add(own, { name: 'one' });
    const to = (body: Record<string, unknown>) => as(own.owner).put(own.path).send(body);
    expect((await to({ name: 'one', new_name: 'two' }).expect(200)).body).toMatchObject({ id, name: 'two' });
    expect((await to({ label_id: id, color: '#000' }).expect(200)).body).toMatchObject({ id, color: '#000' });
    expect((await to({ label_id: 'two', color: '#111' }).expect(200)).body).toMatchObject({ id, color: '#111' });
    expect(answerOf(await to({ name: String(id), color: '#222' }))).toEqual([404, { message: '404 Label Not Found' }]);
    const problems = [
      'label_id, name are missing, exactly one parameter must be provided',
      `new_name, color, description, ${kind === 'project' ? 'priority, ' : ''}archived are missing, at least one parameter must be provided`,
    ];
    expect(answerOf(await to({}))).toEqual([400, { error: problems.join(', ') }]);
    expect(answerOf(await to({ name: 'two', label_id: id, color: 'red' }))).toEqual([
      400,
      { error: 'label_id, name are mutually exclusive' },
    ]);
    expect(answerOf(await as(own.owner).delete(own.path).send({}))).toEqual([400, { error: problems[0] }]);
    await as(own.owner).delete(own.path).query({ name: 'two' }).expect(204);
    expect(await namesIn(own)).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    ['nothing', {}, { error: 'name is missing' }],
    ['a blank name', { name: ' ' }, { message: { title: ["can't be blank"] } }],
    ['a comma', { name: 'a,b' }, { message: { title: ['is invalid'] } }],
    ['a long name', { name: 'é'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    ['no colour', { name: 'x', color: 'reddish' }, { message: { color: ['must be a valid color code'] } }],
    [
      'a long description',
      { name: 'x', description: 'x'.repeat(524_289) },
      { message: { description: ['is too long (maximum is 524288 characters)'] } },
    ],
    ['a NUL', { name: 'a\0b' }, { error: 'name is invalid' }],
  ])('refuse %s', async (_, body, expected) => {
    expect(answerOf(await as(place.owner).post(place.path).send(body))).toEqual([400, expected]);
    if (!('name' in body) || 'error' in (expected as object)) return;
    const { id } = await add(place);
    const { name: new_name, ...rest } = body;
    const changed = await as(place.owner)
      .put(`${place.path}/${id}`)
      .send({ new_name, ...rest });
    expect(answerOf(changed)).toEqual([400, expected]);
  });

  it('have unique names, which differ by case', async () => {
    await add(place, { name: 'bug' });
    const taken = [409, { message: 'Label already exists' }];
    expect(answerOf(await as(place.owner).post(place.path).send({ name: ' bug' }))).toEqual(taken);
    const { id } = await add(place, { name: 'Bug' });
    expect(answerOf(await as(place.owner).put(`${place.path}/${id}`).send({ new_name: 'bug' }))).toEqual(taken);
    await as(place.owner).put(`${place.path}/${id}`).send({ new_name: 'Bug' }).expect(200);
  });

  it('are created once by fifty concurrent requests', async () => {
    const own = await placeOf(kind);
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        as(own.owner)
          .post(own.path)
          .send({ name: i < 25 ? 'same' : `own ${i}` }),
      ),
    );
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(26);
    expect(statuses.filter((status) => status === 409)).toHaveLength(24);
    expect(await namesIn(own, { per_page: 100 })).toHaveLength(26);
  });

  it('are found by a part of the name or description, and by the archived filter', async () => {
    const own = await placeOf(kind);
    await add(own, { name: 'Front 100%' });
    await add(own, { name: 'back', description: 'behind the FRONT' });
    await add(own, { name: 'old', archived: true });
    expect(await namesIn(own)).toEqual(expect.arrayContaining(['Front 100%', 'back', 'old']));
    expect((await namesIn(own, { search: 'front' })).sort()).toEqual(['Front 100%', 'back']);
    expect(await namesIn(own, { search: '0%' })).toEqual(['Front 100%']);
    expect(await namesIn(own, { search: '' })).toHaveLength(3);
    expect(await namesIn(own, { archived: 'true' })).toEqual(['old']);
    expect(await namesIn(own, { archived: 'False' })).toHaveLength(2);
  });

  it('can have a name that looks like an id', async () => {
    const own = await placeOf(kind);
    const one = await add(own, { name: '987654321' });
    const two = await add(own, { name: String(one.id) });
    const shown = async (key: string | number) => (await as(own.owner).get(`${own.path}/${key}`)).body as ShownLabel;
    expect((await shown('987654321')).id).toBe(one.id);
    expect((await shown(one.id)).id).toBe(one.id);
    expect((await shown(two.id)).id).toBe(two.id);
  });

  it('can be subscribed to once', async () => {
    const own = await placeOf(kind);
    const { id } = await add(own, { name: 'of interest' });
    const one = `${own.path}/of%20interest`;
    const subscribed = await as(own.owner).post(`${one}/subscribe`).send({});
    expect(answerOf(subscribed)).toEqual([201, expect.objectContaining({ id, subscribed: true })]);
    const again = await as(own.owner).post(`${own.path}/${id}/subscribe`);
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await as(own.owner).get(one)).body).toMatchObject({ subscribed: true });
    expect((await as(service.seed.anonymous()).get(own.path)).body).toMatchObject([{ subscribed: false }]);
    expect((await as(own.owner).post(`${one}/unsubscribe`)).body).toMatchObject({ id, subscribed: false });
    expect((await as(own.owner).post(`${one}/unsubscribe`)).status).toBe(304);
    expect((await as(own.owner).post(`${own.path}/none/subscribe`)).body).toEqual({ message: '404 Label Not Found' });
    expect((await as(service.seed.anonymous()).post(`${one}/subscribe`)).status).toBe(401);
  });

  it('are not deleted if they changed since If-Unmodified-Since', async () => {
    const { id } = await add(place);
    const stale = await as(place.owner)
      .delete(`${place.path}/${id}`)
      .set('If-Unmodified-Since', 'Mon, 05 Jan 2026 09:00:00 GMT');
    expect(answerOf(stale)).toEqual([412, { message: '412 Precondition Failed' }]);
    await as(place.owner).delete(`${place.path}/${id}`).set('If-Unmodified-Since', 'not a date').expect(204);
  });

  describe('to list', () => {
    let own: Place;
    beforeAll(async () => {
      own = await placeOf(kind);
      for (let i = 0; i < 7; i++) await add(own);
    });
    registerListPagingTests(() => ({
      app: service.app,
      viewer: own.owner,
      path: own.path,
      query: { search: 'label' },
      rows: 7,
    }));
    registerVisibilityTests({
      app: () => service.app,
      from: (level, standing) => listedBy(kind, level, standing),
    });
  });

  describe('to create', () => {
    let people: Awaited<ReturnType<typeof refusedAt>>;
    beforeAll(async () => void (people = await refusedAt(place)));
    registerRefusalOrderTests(
      () => service.app,
      () => ({
        method: 'POST',
        path: place.path,
        good: { name: `made ${++serial}` },
        bad: { name: ['x'] },
        ...people,
      }),
    );
    registerParameterEncodingTests({
      app: () => service.app,
      to: () => ({
        viewer: people.allowed,
        method: 'POST',
        path: place.path,
        params: { name: `a + b & "${++serial}"`, color: '#ffffff', archived: true },
      }),
      seen: ({ name, color, archived }) => [String(name).slice(0, 7), color, archived],
      expected: ['a + b &', '#ffffff', true],
    });
  });

  describe('of another place', () => {
    let other: Place;
    let label: ShownLabel;
    let both: Viewer;
    beforeAll(async () => {
      other = await placeOf(kind);
      label = await add(place, { name: 'elsewhere' });
      both = { ...place.owner, isAdmin: true, directory: service.seed.anonymous().directory };
    });
    registerForeignParentTests({
      app: () => service.app,
      viewer: () => both,
      requests: () =>
        [label.id, label.name].flatMap((key) => [
          { method: 'GET', path: `${other.path}/${key}` },
          { method: 'PUT', path: `${other.path}/${key}`, body: { color: '#fff' } },
          { method: 'DELETE', path: `${other.path}/${key}` },
          { method: 'PUT', path: other.path, body: { label_id: key, color: '#fff' } },
          { method: 'DELETE', path: other.path, body: { label_id: key } },
          { method: 'POST', path: `${other.path}/${key}/subscribe` },
          { method: 'POST', path: `${other.path}/${key}/unsubscribe` },
          ...(kind === 'project' ? [{ method: 'PUT' as const, path: `${other.path}/${key}/promote` }] : []),
        ]),
      untouched: async () => (await as(place.owner).get(`${place.path}/${label.id}`)).body as unknown,
    });
  });
});

describe('a tree of groups', () => {
  let above: Place;
  let group: Place;
  let project: Place;
  let owner: Viewer;
  beforeAll(async () => {
    const top = await service.seed.group();
    const below = await service.seed.group({ parent: top });
    const within = await service.seed.project({ namespace_id: below.id });
    owner = await viewerIn(top, 'owner');
    [above, group, project] = [at('group', top, owner), at('group', below, owner), at('project', within, owner)];
    await add(above, { name: 'a' });
    await add(group, { name: 'b' });
    await add(project, { name: 'c' });
  });

  it('lists labels of ancestor groups, unless excluded', async () => {
    expect(await namesIn(above)).toEqual(['a']);
    expect(await namesIn(group)).toEqual(['a', 'b']);
    expect(await namesIn(project)).toEqual(['a', 'b', 'c']);
    expect(await namesIn(group, { include_ancestor_groups: false })).toEqual(['b']);
    expect(await namesIn(project, { include_ancestor_groups: false })).toEqual(['b', 'c']);
  });

  it('has labels that are changed only in their own group', async () => {
    for (const method of ['PUT', 'DELETE'] as const) {
      const refused = requestOf(as(owner), method, `${project.path}/a`).send({ color: '#fff' });
      expect(answerOf(await refused)).toEqual([404, { message: '404 Label Not Found' }]);
    }
    expect((await as(owner).get(`${project.path}/a`)).body).toMatchObject({ name: 'a', is_project_label: false });
    await as(owner).post(`${project.path}/a/subscribe`).expect(201);
    expect((await as(owner).get(`${above.path}/a`)).body).toMatchObject({ subscribed: true });
  });

  it('has each name once among ancestors', async () => {
    for (const [place, name] of [
      [project, 'a'],
      [project, 'b'],
      [group, 'a'],
    ] as const) {
      const taken = await as(owner).post(place.path).send({ name });
      expect(answerOf(taken)).toEqual([409, { message: 'Label already exists' }]);
    }
    expect((await as(owner).put(`${project.path}/c`).send({ new_name: 'a' })).status).toBe(409);
  });

  it('has priorities only in projects', async () => {
    const { id } = await add(project, { name: 'urgent', priority: 3 });
    const shown = async () => (await as(owner).get(`${project.path}/${id}`)).body as { priority: number | null };
    expect((await shown()).priority).toBe(3);
    const set = (priority: unknown) => as(owner).put(`${project.path}/${id}`).send({ priority });
    expect((await set(0)).body).toMatchObject({ priority: 0 });
    expect((await set(null)).body).toMatchObject({ priority: null });
    expect(answerOf(await set(-1))).toEqual([400, { error: 'priority does not have a valid value' }]);
    expect(answerOf(await set('x'))).toEqual([400, { error: 'priority is invalid' }]);
    expect((await as(owner).put(`${group.path}/b`).send({ priority: 1 })).status).toBe(400);
  });
});

describe('promotion', () => {
  let top: DirectoryNamespace;
  let owner: Viewer;
  const projects: Place[] = [];
  const project = async (home: DirectoryNamespace): Promise<Place> => {
    const { id } = await service.seed.project({ namespace_id: home.id });
    return { kind: 'project', id, path: `/api/v4/projects/${id}/labels`, owner };
  };
  beforeAll(async () => {
    top = await service.seed.group();
    owner = await viewerIn(top, 'owner');
    const below = await service.seed.group({ parent: top });
    projects.push(await project(top), await project(top), await project(below));
  });
  const inGroup = async (): Promise<ShownLabel[]> =>
    (await as(owner).get(`/api/v4/groups/${top.id}/labels`).expect(200)).body as ShownLabel[];
  const promote = (place: Place, key: string | number) =>
    as(owner).put(`${place.path}/${encodeURIComponent(key)}/promote`);

  it('replaces all labels of the name below the group by one group label', async () => {
    const [one, two, deep] = projects as [Place, Place, Place];
    const kept = await add(one, { name: 'needs work', priority: 1 });
    await add(two, { name: 'needs work', priority: 2 });
    const other = await add(deep, { name: 'needs work' });
    const elsewhere = await placeOf('project');
    const foreign = await add(elsewhere, { name: 'needs work' });
    await as(owner).post(`${two.path}/needs%20work/subscribe`).expect(201);
    const promoted = await promote(one, 'needs work');
    expect(answerOf(promoted)).toEqual([
      200,
      expect.objectContaining({ id: kept.id, is_project_label: false, subscribed: true, priority: 1 }),
    ]);
    expect(await inGroup()).toMatchObject([{ id: kept.id, name: 'needs work', priority: null }]);
    for (const place of projects) {
      expect((await as(owner).get(`${place.path}/needs%20work`)).body).toMatchObject({ id: kept.id });
      expect((await as(owner).get(place.path)).body).toHaveLength(1);
    }
    expect((await as(owner).get(`${two.path}/${kept.id}`)).body).toMatchObject({ priority: 2 });
    expect((await as(owner).get(`${deep.path}/${other.id}`)).status).toBe(404);
    expect((await as(elsewhere.owner).get(`${elsewhere.path}/${foreign.id}`)).body).toMatchObject(foreign);
    expect(answerOf(await promote(one, 'needs work'))).toEqual([404, { message: '404 Label Not Found' }]);
  });

  it('is done once by concurrent requests', async () => {
    // Projects of one group: a project of a subgroup promotes to its own group, so both could be answered 200.
    const projectsOfGroup = [...projects.slice(0, 2), await project(top), await project(top)];
    for (const place of projectsOfGroup) await add(place, { name: 'race' });
    const all = await Promise.all(projectsOfGroup.map((place) => promote(place, 'race')));
    expect(all.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    expect(all.every(({ status }) => status === 200 || status === 404)).toBe(true);
    expect((await inGroup()).filter(({ name }) => name === 'race')).toHaveLength(1);
  });

  it('is refused for projects outside of groups and for users who manage only the project', async () => {
    const user = await service.seed.user();
    const { id } = await service.seed.project({ namespace_id: user.namespace_id });
    const own: Place = { kind: 'project', id, path: `/api/v4/projects/${id}/labels`, owner: service.seed.viewer(user) };
    await add(own, { name: 'mine' });
    expect(answerOf(await as(own.owner).put(`${own.path}/mine/promote`))).toEqual([
      400,
      { message: 'Failed to promote project label to group label' },
    ]);
    const [one] = projects as [Place];
    await add(one, { name: 'theirs' });
    const planner = await viewerIn({ id: one.id }, 'owner');
    expect(answerOf(await as(planner).put(`${one.path}/theirs/promote`))).toEqual([403, { message: '403 Forbidden' }]);
    expect((await as(planner).put(`${one.path}/theirs`).send({ color: '#fff' })).status).toBe(200);
  });
});

/** By role case: statuses of a GET, a subscription and a write. */
const MATRIX: Readonly<Record<'public' | 'internal' | 'private', Readonly<Record<RoleCase, string>>>> = {
  public: expectedStatusRow('200 401 401', '200 201 403', '200 201 403'),
  internal: expectedStatusRow('404 401 401', '200 201 403', '404 404 404'),
  private: expectedStatusRow('404 401 401', '404 404 404', '404 404 404'),
};
function expectedStatusRow(anonymous: string, outsider: string, external: string): Record<RoleCase, string> {
  const [reads, writes] = ['200 201 403', '200 201 201'];
  const members = Object.fromEntries(ROLES.map((role) => [role, role === 'guest' ? reads : writes]));
  return { anonymous, outsider, external, admin: writes, ...members } as Record<RoleCase, string>;
}

describe.each<Kind>(['project', 'group'])('permissions for labels of a %s', (kind) => {
  it.each(['public', 'internal', 'private'] as const)('that is %s', async (level) => {
    const source = await seeded(kind, level);
    const place: Place = {
      kind,
      id: source.id,
      path: `/api/v4/${kind}s/${source.id}/labels`,
      owner: await viewerIn(source, 'owner'),
    };
    const { id } = await add(place);
    const one = `${place.path}/${id}`;
    const found: Record<string, string> = {};
    for (const standing of Object.keys(MATRIX[level]) as RoleCase[]) {
      const viewer = await standingIn(source, standing);
      const ask = async (method: Method, path: string, body: Record<string, unknown> = {}): Promise<number> =>
        (await requestOf(as(viewer), method, path).send(body)).status;
      const read = await ask('GET', place.path);
      expect([standing, await ask('GET', one)]).toEqual([standing, read]);
      const followed = await ask('POST', `${one}/subscribe`);
      if (followed === 201) expect(await ask('POST', `${one}/unsubscribe`)).toBe(201);
      const made = await ask('POST', place.path, { name: `by ${standing}` });
      const changed = await ask('PUT', one, { description: standing });
      expect([standing, changed]).toEqual([standing, made === 201 ? 200 : made]);
      const named = { name: `by ${standing}` };
      expect(await ask('PUT', place.path, { ...named, color: '#fff' })).toBe(changed);
      expect(await ask('DELETE', place.path, named)).toBe(made === 201 ? 204 : made);
      if (made !== 201) expect(await ask('DELETE', one)).toBe(made);
      if (kind === 'project' && made !== 201) expect(await ask('PUT', `${one}/promote`)).toBe(made);
      found[standing] = `${read} ${followed} ${made}`;
    }
    expect(found).toEqual(MATRIX[level]);
  });
});

test('labels of an archived project are read only, and refused without issues and merge requests', async () => {
  const project = await service.seed.project();
  const owner = await viewerIn(project, 'owner');
  const place: Place = { kind: 'project', id: project.id, path: `/api/v4/projects/${project.id}/labels`, owner };
  const { id } = await add(place);
  await service.seed.put('projects', { ...project, archived: true });
  expect((await as(owner).get(place.path)).body).toHaveLength(1);
  expect((await as(owner).put(`${place.path}/${id}`).send({ color: '#fff' })).status).toBe(403);
  const off = { issues_access_level: 'disabled', merge_requests_access_level: 'disabled' };
  await service.seed.put('projects', { ...project, ...off });
  expect((await as(owner).get(place.path)).status).toBe(403);
  expect((await as(service.seed.anonymous()).get(place.path)).status).toBe(401);
  await service.seed.put('projects', { ...project, ...off, merge_requests_access_level: 'private' });
  expect((await as(owner).get(place.path)).status).toBe(200);
  expect((await as(service.seed.anonymous()).get(`${place.path}/${id}`)).status).toBe(401);
});
