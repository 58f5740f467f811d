import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerProjectDeletionTests,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Method, SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let maintainer: Viewer;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  maintainer = service.seed.viewer(cast.maintainer);
});
afterAll(() => service.close());

type RefKind = 'branches' | 'tags';
const pathOf = (kind: RefKind, name?: string, of: Pick<DirectoryProject, 'id'> = project) =>
  `/api/v4/projects/${of.id}/protected_${kind}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
const ask = async (method: Method, path: string, body?: object, viewer = maintainer) => {
  const answer = await requestOf(service.app.as(viewer), method, path).send(body as never);
  return [answer.status, answer.body] as const;
};
const nextName = () => `release-${++at}`;
const add = (kind: RefKind, body: object = {}, of = project) =>
  ask('POST', pathOf(kind, undefined, of), { name: nextName(), ...body });

interface Level {
  readonly id: number;
  readonly access_level: number;
}
const TEXTS: Record<number, string> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
};
const levels = (...wanted: number[]) =>
  wanted.map((level) => ({
    ...{ id: expect.any(Number), access_level: level, access_level_description: TEXTS[level] },
    ...{ deploy_key_id: null, user_id: null, group_id: null },
  }));
const expectedRule = (name: string, over: object = {}) => ({
  ...{ id: expect.any(Number), name, allow_force_push: false, code_owner_approval_required: false, inherited: false },
  ...{ push_access_levels: levels(40), merge_access_levels: levels(40), unprotect_access_levels: levels(40) },
  ...over,
});

describe('a protected branch', () => {
  it('is for maintainers by default', async () => {
    const name = nextName();
    expect(await ask('POST', pathOf('branches'), { name })).toEqual([201, expectedRule(name)]);
    expect(await ask('GET', pathOf('branches', name))).toEqual([200, expectedRule(name)]);
    expect(await ask('DELETE', pathOf('branches', name))).toEqual([204, {}]);
    expect(await ask('GET', pathOf('branches', name))).toEqual([404, { message: '404 Not found' }]);
  });

  it.each<[object, object]>([
    [
      { push_access_level: 0, merge_access_level: 30, unprotect_access_level: 60, allow_force_push: true },
      {
        ...{ push_access_levels: levels(0), merge_access_levels: levels(30), unprotect_access_levels: levels(60) },
        allow_force_push: true,
      },
    ],
    [
      { allowed_to_push: [{ access_level: 30 }, { access_level: '60' }], push_access_level: 40 },
      { push_access_levels: levels(30, 40, 60) },
    ],
    [
      { allowed_to_merge: [{ access_level: 30 }], allowed_to_unprotect: [{ access_level: 60 }] },
      { merge_access_levels: levels(30), unprotect_access_levels: levels(60) },
    ],
    [{ code_owner_approval_required: true }, {}],
    [{ push_access_level: null, allowed_to_push: [] }, {}],
  ])('has the levels of %j', async (body, shown) => {
    const name = `feature/${nextName()}-*`;
    expect(await add('branches', { name, ...body })).toEqual([201, expectedRule(name, shown)]);
    expect(await ask('GET', pathOf('branches', name))).toEqual([200, expectedRule(name, shown)]);
  });

  it('changes what is sent, and single levels by their id', async () => {
    const name = nextName();
    await add('branches', { name, allowed_to_push: [{ access_level: 30 }, { access_level: 40 }] });
    const change = (body: object) => ask('PATCH', pathOf('branches', name), body);
    const [, body] = await change({ allow_force_push: true });
    expect(body).toEqual(expectedRule(name, { allow_force_push: true, push_access_levels: levels(30, 40) }));
    const [first, second] = (body as { push_access_levels: Level[] }).push_access_levels as [Level, Level];
    expect(first.id).not.toBe(second.id);
    const allowed_to_push = [
      { id: first.id, _destroy: true },
      { id: second.id, access_level: 60 },
    ];
    expect((await change({ allowed_to_push }))[1]).toMatchObject({ push_access_levels: levels(60) });
    expect((await change({ allowed_to_merge: [{ access_level: 30 }] }))[1]).toMatchObject({
      allow_force_push: true,
      merge_access_levels: levels(30, 40),
    });
    for (const [item, message] of [
      [{ id: first.id, _destroy: true }, 'The rule has no access level with this id'],
      [{}, 'An access level is needed'],
      [{ user_id: 1 }, 'Rules for single users, groups and deploy keys are not supported'],
    ] as const)
      expect(await change({ allowed_to_push: [item] })).toEqual([422, { message }]);
    expect(await ask('PATCH', pathOf('branches', 'none'), {})).toEqual([404, { message: '404 Not found' }]);
  });

  it.each<[object, number, object]>([
    [{ name: '' }, 400, { error: 'name is empty' }],
    [{ name: 'x'.repeat(256) }, 400, { error: 'name is too long (maximum is 255 characters)' }],
    [{ push_access_level: 20 }, 400, { error: 'push_access_level does not have a valid value' }],
    [{ unprotect_access_level: 0 }, 400, { error: 'unprotect_access_level does not have a valid value' }],
    [
      { allowed_to_push: [{ access_level: 7 }] },
      400,
      { error: 'allowed_to_push[0][access_level] does not have a valid value' },
    ],
    [
      { allowed_to_push: [{ group_id: 7 }] },
      422,
      { message: 'Rules for single users, groups and deploy keys are not supported' },
    ],
  ])('is refused for %j', async (body, status, refusal) => {
    expect(await add('branches', body)).toEqual([status, refusal]);
  });

  it('is one for each name', async () => {
    const name = nextName();
    const answers = await Promise.all([add('branches', { name }), add('branches', { name })]);
    expect(answers.map(([status]) => status).sort()).toEqual([201, 409]);
    expect(await add('branches', { name })).toEqual([409, { message: `Protected branch '${name}' already exists` }]);
    const other = await service.seed.project();
    await service.seed.member(cast.maintainer, other, 'maintainer');
    expect((await add('branches', { name }, other))[0]).toBe(201);
  });

  it('is removed and changed by callers whom it lets do so', async () => {
    const name = nextName();
    await add('branches', { name, unprotect_access_level: 60 });
    expect(await ask('DELETE', pathOf('branches', name))).toEqual([403, { message: '403 Forbidden' }]);
    expect((await ask('DELETE', pathOf('branches', name), undefined, service.seed.viewer(cast.admin)))[0]).toBe(204);
  });

  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: maintainer,
      method: 'POST',
      path: pathOf('branches'),
      params: {
        name: nextName(),
        push_access_level: 30,
        allow_force_push: true,
        allowed_to_merge: [{ access_level: 60 }],
      },
    }),
    seen: ({ allow_force_push: force, push_access_levels: push, merge_access_levels: merge }) => [force, push, merge],
    expected: [true, levels(30), levels(60)],
  });
});

describe('a protected tag', () => {
  it('is created, shown and removed', async () => {
    const name = 'v*';
    const tag = { name, create_access_levels: levels(40) };
    expect(await add('tags', { name })).toEqual([201, tag]);
    expect(await ask('GET', pathOf('tags', name))).toEqual([200, tag]);
    expect(await add('tags', { name })).toEqual([409, { message: "Protected tag 'v*' already exists" }]);
    expect((await add('tags', { create_access_level: 30 }))[1]).toMatchObject({ create_access_levels: levels(30) });
    const lists = await add('tags', { allowed_to_create: [{ access_level: 0 }] });
    expect(lists[1]).toMatchObject({ create_access_levels: levels(0) });
    expect(await ask('DELETE', pathOf('tags', name))).toEqual([204, {}]);
    expect(await ask('DELETE', pathOf('tags', name))).toEqual([404, { message: '404 Not found' }]);
    expect(await add('tags', { name: ' ' })).toEqual([400, { error: 'name is empty' }]);
    expect(await add('tags', { create_access_level: 50 })).toEqual([
      400,
      { error: 'create_access_level does not have a valid value' },
    ]);
  });
});

describe.each(['branches', 'tags'] as const)('the list of protected %s', (kind) => {
  let listed: DirectoryProject;
  beforeAll(async () => {
    listed = await service.seed.project();
    await service.seed.member(cast.maintainer, listed, 'maintainer');
    for (const name of ['b', 'a', 'c/*', 'ä', 'Ab']) await add(kind, { name }, listed);
  });

  registerListPagingTests(() => ({
    app: service.app,
    viewer: maintainer,
    path: pathOf(kind, undefined, listed),
    query: { search: '' },
    rows: 5,
    key: (row) => row['name'],
  }));

  it('is searched, and ordered by name', async () => {
    const [, body] = await ask('GET', `${pathOf(kind, undefined, listed)}?search=A`);
    expect((body as { name: string }[]).map(({ name }) => name).sort()).toEqual(['Ab', 'a']);
  });

  registerForeignParentTests({
    app: () => service.app,
    viewer: () => maintainer,
    requests: () => [
      { method: 'GET', path: pathOf(kind, 'c/*') },
      { method: 'DELETE', path: pathOf(kind, 'c/*') },
      ...(kind === 'branches' ? [{ method: 'PATCH' as const, path: pathOf(kind, 'c/*') }] : []),
    ],
    untouched: () => ask('GET', pathOf(kind, 'c/*', listed)),
  });

  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const place = await service.seed.project({ visibility: level });
      const own = await castOf(service.seed, place);
      const user = own[standing === 'outsider' ? 'stranger' : (standing as keyof Cast)];
      const viewer = standing === 'anonymous' ? service.seed.anonymous() : service.seed.viewer(user);
      return { viewer, path: pathOf(kind, undefined, place) };
    },
    anonymous: 401,
    seen: (standing) => (/developer|maintainer|owner|admin/.test(standing) ? 200 : 403),
  });

  it('is for maintainers to change', async () => {
    const name = nextName();
    await add(kind, { name });
    const developer = service.seed.viewer(cast.developer);
    const changes: [Method, string, object?][] = [
      ['POST', pathOf(kind), { name: nextName() }],
      ['DELETE', pathOf(kind, name)],
      ...(kind === 'branches' ? [['PATCH', pathOf(kind, name), {}] as [Method, string, object]] : []),
    ];
    for (const [method, path, body] of changes) {
      expect([method, ...(await ask(method, path, body, developer))]).toEqual([
        method,
        403,
        { message: '403 Forbidden' },
      ]);
      const anonymous = await ask(method, path, body, service.seed.anonymous());
      expect([method, anonymous[0]]).toEqual([method, 401]);
    }
  });
});

describe.each(['branches', 'tags'] as const)('a rule for %s', (kind) => {
  registerProjectDeletionTests({
    service: () => service,
    effect: `drop-protected-${kind}`,
    tables: [`protected_${kind}`],
    fill: (owner, of) =>
      owner
        .post(pathOf(kind, undefined, of))
        .send({ name: 'main' })
        .expect(201),
  });
});
