import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { DirectorySeed } from '@rookery/testing';
import type { SeededUser, TestDatabase } from '@rookery/testing';
import { Copy } from '../copy';

const NOWHERE = 'http://127.0.0.1:9';
const dayFromToday = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

describe('levels and visibility', () => {
  let database: TestDatabase;
  let seed: DirectorySeed;
  let copy: Copy;
  let alice: SeededUser;

  beforeAll(async () => {
    database = await Copy.database();
    seed = await DirectorySeed.open(database.url);
    copy = await Copy.start(database.url, NOWHERE);
    alice = await seed.user();
  });

  afterAll(async () => {
    await copy.stop();
    await seed.close();
    await database.drop();
  });

  /** A root group, a group in it, and a private project in that. */
  async function tree(): Promise<{ top: DirectoryNamespace; sub: DirectoryNamespace; code: DirectoryProject }> {
    const top = await seed.group({ visibility: 'private' });
    const sub = await seed.group({ parent: top, visibility: 'private' });
    return { top, sub, code: await seed.project({ namespace_id: sub.id, visibility: 'private' }) };
  }

  /** Returns the access level, by every way to read it; all must agree. */
  async function level(person: SeededUser, at: DirectoryProject | DirectoryNamespace): Promise<number> {
    const isGroup = 'traversal_ids' in at;
    const viewer = seed.viewer(person);
    const scope = isGroup
      ? await copy.directory.findGroup(at.id, viewer)
      : await copy.directory.findProject(at.id, viewer);
    const many = isGroup
      ? await copy.directory.levelsInGroup(at.id, [person.id, 999_999])
      : await copy.directory.levelsInProject(at.id, [person.id, 999_999]);
    const name = isGroup ? 'directory_group_level' : 'directory_project_level';
    const [row] = await copy.database.query<{ level: number }>(`select ${name}($1, $2) as level`, [at.id, person.id]);
    expect(many.get(999_999)).toBe(0);
    expect(many.get(person.id)).toBe(row?.level);
    if (scope) expect(scope.level).toBe(row?.level);
    else expect(row?.level).toBeLessThan(10);
    return row?.level ?? -1;
  }

  it('is inherited downwards, never upwards, and the highest counts', async () => {
    const { top, sub, code } = await tree();
    await seed.member(alice, sub, 'reporter');
    expect([await level(alice, top), await level(alice, sub), await level(alice, code)]).toEqual([0, 20, 20]);
    await seed.member(alice, code, 'maintainer');
    expect([await level(alice, sub), await level(alice, code)]).toEqual([20, 40]);
    await seed.member(alice, top, 'owner');
    expect([await level(alice, top), await level(alice, sub), await level(alice, code)]).toEqual([50, 50, 50]);
  });

  it('is never an earlier one after a change', async () => {
    const { code } = await tree();
    const held = await seed.member(alice, code, 'reporter');
    for (let round = 0; round < 5; round++) {
      await seed.put('memberships', { ...held, access_level: 30 });
      expect(await copy.directory.findProject(code.id, seed.viewer(alice))).toMatchObject({ level: 30 });
      await seed.put('memberships', { ...held, access_level: 40 });
      expect(await copy.directory.findProject(code.id, seed.viewer(alice))).toMatchObject({ level: 40 });
      await seed.remove('memberships', held.id);
      expect(await copy.directory.findProject(code.id, seed.viewer(alice))).toBeNull();
      await seed.put('projects', { ...code, visibility: 'public' });
      expect(await copy.directory.findProject(code.id, seed.anonymous())).toMatchObject({ level: 0 });
      await seed.put('projects', { ...code, visibility: 'private' });
      expect(await copy.directory.findProject(code.id, seed.anonymous())).toBeNull();
    }
  });

  it('is owner for the user in the own namespace', async () => {
    const bob = await seed.user();
    const own = await seed.project({ namespace_id: bob.namespace_id, visibility: 'private' });
    expect(await level(bob, own)).toBe(50);
    expect(await level(alice, own)).toBe(0);
  });

  it.each([
    { share: 'developer', held: 'maintainer', expected: 30 },
    { share: 'maintainer', held: 'guest', expected: 10 },
    { share: 'owner', held: 'owner', expected: 50 },
  ] as const)('is the lower of $share and $held through an invited group', async ({ share, held, expected }) => {
    const { top, sub, code } = await tree();
    const invited = await seed.group({ visibility: 'private' });
    const person = await seed.user();
    await seed.member(person, invited, held);
    await seed.share(sub, invited, share);
    expect([await level(person, top), await level(person, sub), await level(person, code)]).toEqual([
      0,
      expected,
      expected,
    ]);
  });

  it('counts for inherited members of an invited group, but not for members of its subgroups or of groups invited to it', async () => {
    const { code } = await tree();
    const parent = await seed.group({ visibility: 'private' });
    const invited = await seed.group({ parent, visibility: 'private' });
    const below = await seed.group({ parent: invited, visibility: 'private' });
    const further = await seed.group({ visibility: 'private' });
    const people = [await seed.user(), await seed.user(), await seed.user()] as const;
    await seed.member(people[0], parent, 'owner');
    await seed.member(people[1], below, 'owner');
    await seed.member(people[2], further, 'owner');
    await seed.share(invited, further, 'owner');
    await seed.share(code, invited, 'developer');
    expect(await level(people[0], code)).toBe(30);
    expect(await level(people[1], code)).toBe(0);
    expect(await level(people[2], code)).toBe(0);
  });

  it.each([
    { expires: -1, counts: false },
    { expires: 0, counts: false },
    { expires: 1, counts: true },
  ])('counts if the membership or share expires in $expires days: $counts', async ({ expires, counts }) => {
    const person = await seed.user();
    const { sub, code } = await tree();
    await seed.member(person, code, 'developer', dayFromToday(expires));
    expect(await level(person, code)).toBe(counts ? 30 : 0);

    const invited = await seed.group();
    await seed.member(person, invited, 'owner');
    await seed.share(sub, invited, 'maintainer', dayFromToday(expires));
    expect(await level(person, sub)).toBe(counts ? 40 : 0);

    const other = await tree();
    const crew = await seed.group();
    await seed.member(person, crew, 'owner', dayFromToday(expires));
    await seed.share(other.code, crew, 'reporter');
    expect(await level(person, other.code)).toBe(counts ? 20 : 0);
  });

  it('is 0 for users who are not active', async () => {
    const { code } = await tree();
    for (const state of ['blocked', 'banned', 'deactivated', 'blocked_pending_approval'] as const) {
      const person = await seed.user({ state });
      await seed.member(person, code, 'owner');
      expect((await copy.directory.levelsInProject(code.id, [person.id])).get(person.id)).toBe(0);
      const [row] = await copy.database.query('select directory_project_level($1, $2) as level', [code.id, person.id]);
      expect(row).toEqual({ level: 0 });
    }
  });

  it('minimal access shows nothing private', async () => {
    const { top, code } = await tree();
    const person = await seed.user();
    await seed.member(person, top, 'minimal');
    expect(await copy.directory.findProject(code.id, seed.viewer(person))).toBeNull();
  });

  describe('visibility', () => {
    type Who = 'anonymous' | 'external' | 'stranger' | 'guest' | 'administrator';
    const seen: Record<'private' | 'internal' | 'public', readonly Who[]> = {
      private: ['guest', 'administrator'],
      internal: ['stranger', 'guest', 'administrator'],
      public: ['anonymous', 'external', 'stranger', 'guest', 'administrator'],
    };

    it.each(['private', 'internal', 'public'] as const)(
      '%s projects and groups are visible to their audience only',
      async (visibility) => {
        const home = await seed.group({ visibility });
        const code = await seed.project({ namespace_id: home.id, visibility });
        const guest = await seed.user();
        await seed.member(guest, home, 'guest');
        const viewers = {
          anonymous: () => seed.anonymous(),
          external: (external: SeededUser) => seed.viewer(external),
          stranger: () => seed.viewer(alice),
          guest: () => seed.viewer(guest),
          administrator: () => seed.viewer(alice, { isAdmin: true }),
        };
        const external = await seed.user({ external: true });
        for (const [who, make] of Object.entries(viewers)) {
          const viewer = make(external);
          const expected = seen[visibility].includes(who as Who);
          expect([who, (await copy.directory.findProject(code.id, viewer)) !== null]).toEqual([who, expected]);
          expect([who, (await copy.directory.findGroup(home.id, viewer)) !== null]).toEqual([who, expected]);
          const { visibleGroupSql, visibleProjectSql } = await import('../../src');
          const asked = { viewer: '$2', isAdmin: '$3', isExternal: '$4' };
          const [row] = await copy.database.query(
            `select ${visibleProjectSql({ project: 'p', ...asked })} as project, ${visibleGroupSql({ namespace: 'n', ...asked })} as "group"
           from directory_projects p join directory_namespaces n on n.id = p.namespace_id where p.id = $1`,
            [code.id, viewer.userId, viewer.isAdmin, viewer.isExternal],
          );
          expect([who, row]).toEqual([who, { project: expected, group: expected }]);
        }
      },
    );
  });

  describe('references', () => {
    it('are ids, or paths in any case', async () => {
      const top = await seed.group({ path: 'Crew' });
      const sub = await seed.group({ path: 'Inner.Circle', parent: top });
      const code = await seed.project({ namespace_id: sub.id, path: 'Nest_Box' });
      const viewer = seed.viewer(alice);
      for (const ref of [code.id, String(code.id), 'Crew/Inner.Circle/Nest_Box', 'crew/INNER.circle/nest_box']) {
        expect(await copy.directory.findProject(ref, viewer)).toMatchObject({
          id: code.id,
          fullPath: 'Crew/Inner.Circle/Nest_Box',
          nameWithNamespace: 'Crew / Inner.Circle / Nest_Box',
          namespace: { id: sub.id, traversalIds: [top.id, sub.id] },
        });
      }
      expect(await copy.directory.findGroup('crew/inner.circle', viewer)).toMatchObject({ id: sub.id, kind: 'group' });
    });

    it('that are impossible match nothing', async () => {
      const viewer = seed.viewer(alice);
      const refs = [
        0,
        -1,
        1.5,
        2 ** 53,
        1e300,
        '9007199254740993',
        '99999999999999999999999',
        '',
        '/',
        'a/',
        '/a',
        'crew',
        'a\0/b',
        "a'/b",
        'é/ü',
      ];
      for (const ref of refs) expect([ref, await copy.directory.findProject(ref, viewer)]).toEqual([ref, null]);
      for (const ref of refs.filter((r) => r !== 'crew')) {
        expect([ref, await copy.directory.findGroup(ref, viewer)]).toEqual([ref, null]);
      }
      expect((await copy.directory.findUsers([2 ** 53, -1, NaN])).size).toBe(0);
    });

    it('to a user namespace match no group', async () => {
      expect(await copy.directory.findGroup(alice.namespace_id, seed.viewer(alice))).toBeNull();
      expect(await copy.directory.findGroup(alice.username, seed.viewer(alice))).toBeNull();
    });
  });

  it('looks up many at once', async () => {
    const bob = await seed.user({ username: 'Bob.Builder', public_email: 'bob@mail.example' });
    const users = await copy.directory.usersByUsername(['BOB.builder', 'nobody', 'x\0y']);
    expect([...users.keys()]).toEqual(['bob.builder']);
    expect(users.get('bob.builder')).toMatchObject({ id: bob.id, publicEmail: 'bob@mail.example' });
    const { code, sub } = await tree();
    expect((await copy.directory.findProjects([code.id, 1])).get(code.id)).toMatchObject({ namespace: { id: sub.id } });
    expect((await copy.directory.findNamespaces([sub.id])).get(sub.id)).toMatchObject({ parentId: sub.parent_id });
  });

  it('finds all namespaces below a group by one range', async () => {
    const { top, sub } = await tree();
    await tree();
    const { withinGroupSql } = await import('../../src');
    const rows = await copy.database.query<{ id: number }>(
      `select n.id from directory_namespaces n where ${withinGroupSql({ namespace: 'n', traversalIds: '$1' })} order by id`,
      [top.traversal_ids],
    );
    expect(rows.map((row) => row.id)).toEqual([top.id, sub.id]);
  });
});
