import type { Forest, Group, Project } from './forest';
import { findSource, NO_FOREST } from './forest';
import { isMovable, isShareable, moved, without, withShare } from './forest-steps';
import { removedPerson, newPerson, withMembership, withoutFamily, withRequest, withToken } from './people';
import type { PersonState } from './people';
import type { Question } from './reference-model';
import { levelOf, tokenRefusals, verdicts } from './reference-model';

const group = (id: number, parent: number | null, visibility: Group['visibility'] = 'private'): Group => ({
  id,
  parent,
  path: `g${id}`,
  visibility,
});
const project = (id: number, home: number, visibility: Project['visibility'] = 'private'): Project => ({
  id,
  group: home,
  path: `p${id}`,
  visibility,
});

/** Two trees: group 1 contains group 2 with project 7; group 4 contains 5, which contains 6. */
const FOREST: Forest = {
  ...NO_FOREST,
  groups: new Map(
    [group(1, null), group(2, 1), group(4, null, 'public'), group(5, 4, 'public'), group(6, 5)].map((one) => [
      one.id,
      one,
    ]),
  ),
  projects: new Map([[7, project(7, 2)]]),
};
const TOKEN = { scope: 'api', family: 't', status: 'good' } as const;
const nonMember = withToken(newPerson(false), 't', TOKEN);
const memberOf = (id: number, level: number): PersonState =>
  withMembership(nonMember, `group ${id}`, { level, isExpired: false });
const levelIn7 = (person: PersonState, forest: Forest): number =>
  levelOf(person, forest, findSource(forest, { kind: 'project', id: 7 })!);
const verdictsFor = (person: PersonState, question: Partial<Question>, forest = FOREST) =>
  verdicts(
    { service: 'identity', source: { kind: 'project', id: 7 }, needs: 0, writes: true, ...question },
    forest,
    person,
    't',
  );

describe('an invited group', () => {
  const share = { source: 'group 1', group: 5, level: 30, isExpired: false } as const;
  const shared = withShare(FOREST, share);

  it('gives its members, and those of groups above it, at most the level of the share', () => {
    expect(levelIn7(memberOf(5, 20), shared)).toBe(20);
    expect(levelIn7(memberOf(5, 40), shared)).toBe(30);
    expect(levelIn7(memberOf(4, 50), shared)).toBe(30);
  });

  it('gives nothing to members of its subgroups and of groups invited to it, and nothing after its last day', () => {
    expect(levelIn7(memberOf(6, 50), shared)).toBe(0);
    expect(
      levelIn7(memberOf(6, 50), withShare(shared, { source: 'group 5', group: 6, level: 50, isExpired: false })),
    ).toBe(0);
    expect(levelIn7(memberOf(5, 40), withShare(shared, { ...share, isExpired: true }))).toBe(0);
  });

  it('has no share after it or the group that it was invited to is deleted', () => {
    const left = without(shared, findSource(shared, { kind: 'group', id: 4 })!);
    expect(left.shares).toEqual([]);
    expect(without(shared, findSource(shared, { kind: 'group', id: 1 })!).shares).toEqual([]);
  });

  it('is not invited twice, nor to a project of its own tree', () => {
    expect(isShareable(FOREST, 'project 7', 5)).toBe(true);
    expect(isShareable(shared, 'group 1', 5)).toBe(false);
    expect(isShareable(FOREST, 'project 7', 1)).toBe(false);
  });

  it('is invited by owners; other users get 404, and ending a share has no effect for them', () => {
    const give = {
      share: { action: 'give', group: 5, grant: 30 },
      needs: 50,
      source: { kind: 'group', id: 1 },
    } as const;
    expect(verdictsFor(memberOf(1, 50), give)).toEqual(['allow']);
    expect(verdictsFor(memberOf(1, 40), give)).toEqual([404]);
    const end = { ...give, share: { ...give.share, action: 'end' } } as const;
    expect(verdictsFor(memberOf(1, 40), end)).toEqual([404]);
    expect(verdictsFor(memberOf(1, 40), end, shared)).toEqual(['allow']);
  });

  it('gets at most the level of the inviting user in a project', () => {
    const give = { share: { action: 'give', group: 5, grant: 50 }, needs: 40 } as const;
    expect(verdictsFor(memberOf(2, 40), give)).toEqual([403]);
    expect(verdictsFor(memberOf(2, 50), give)).toEqual(['allow']);
    expect(verdictsFor(memberOf(2, 30), give)).toEqual([403]);
  });
});

describe('a moved group or project', () => {
  it('keeps its members, loses inherited members and gains those of its new parent', () => {
    const after = moved(FOREST, findSource(FOREST, { kind: 'group', id: 2 })!, 6);
    expect(levelIn7(memberOf(1, 30), after)).toBe(0);
    expect(levelIn7(memberOf(2, 30), after)).toBe(30);
    expect(levelIn7(memberOf(4, 30), after)).toBe(30);
    expect(after.former.get('g1/g2/p7')).toBe(7);
  });

  it('is at most as visible as its new parent, and never more visible than before', () => {
    const open = moved(FOREST, findSource(FOREST, { kind: 'group', id: 5 })!, 2);
    expect(open.groups.get(5)?.visibility).toBe('private');
    expect(moved(FOREST, findSource(FOREST, { kind: 'project', id: 7 })!, 4).projects.get(7)?.visibility).toBe(
      'private',
    );
  });

  it('does not move below itself or to where it is', () => {
    const four = findSource(FOREST, { kind: 'group', id: 4 })!;
    expect([6, 4, null, 1].map((to) => isMovable(FOREST, four, to))).toEqual([false, false, false, true]);
  });

  it('moves only into a group that the caller can see', () => {
    expect(verdictsFor(memberOf(1, 50), { needs: 50, target: 4 })).toEqual(['allow']);
    expect(verdictsFor(memberOf(1, 50), { needs: 50, target: 6 })).toEqual([404]);
  });
});

it('an access request gives no level and is answered once, by users who manage members', () => {
  const asking = withRequest(memberOf(4, 10), 'project 7', true);
  expect(levelIn7(asking, FOREST)).toBe(0);
  expect(levelIn7(withMembership(asking, 'project 7', { level: 30, isExpired: false }), FOREST)).toBe(30);
  expect(withMembership(asking, 'project 7', { level: 30, isExpired: false }).requests.size).toBe(0);
  const approve = { request: { action: 'approve', isOpen: true, grant: 50, isSelf: false }, needs: 40 } as const;
  expect(verdictsFor(memberOf(1, 30), approve)).toEqual([403]);
  expect(verdictsFor(memberOf(1, 40), approve)).toEqual([403]);
  expect(verdictsFor(memberOf(1, 50), approve)).toEqual(['allow']);
  expect(verdictsFor(memberOf(1, 50), { ...approve, request: { ...approve.request, isOpen: false } })).toEqual([404]);
});

it('an inactive person is refused, and has the same level after activation', () => {
  const banned: PersonState = { ...memberOf(1, 30), account: 'banned' };
  expect(tokenRefusals(banned, 't')).toEqual([403]);
  expect(verdictsFor(banned, { service: 'package' })).toEqual([403, 404]);
  expect(levelIn7({ ...banned, account: 'active' }, FOREST)).toBe(30);
});

it('revoking a family revokes all its tokens', () => {
  const two = withToken(withToken(nonMember, 't', { ...TOKEN, status: 'revoked' }), 'u', TOKEN);
  const other = withToken(two, 'v', { ...TOKEN, family: 'v' });
  expect(['t', 'u', 'v'].map((key) => tokenRefusals(withoutFamily(other, 't'), key))).toEqual([[401], [401], null]);
});

describe('an administrator', () => {
  const administrator = (over: Partial<PersonState> = {}): PersonState => ({ ...nonMember, admin: true, ...over });

  it('may do the same as root, and nothing of it after demotion', () => {
    expect(verdictsFor(administrator(), { needs: 40 })).toEqual(['allow']);
    expect(verdictsFor(administrator({ admin: false }), { needs: 40 })).toEqual([404]);
    const alone = { source: null, needsAdmin: true } as const;
    expect([administrator(), nonMember].map((person) => verdictsFor(person, alone))).toEqual([['allow'], [403]]);
  });

  it('is refused after removal by the token check and by services', () => {
    expect(tokenRefusals(removedPerson(administrator()), 't')).toEqual([401, 403]);
    expect(verdictsFor(removedPerson(administrator()), { service: 'collaboration' })).toEqual([401, 403, 404]);
  });
});

it('tokens of groups and projects are managed by their owners, at most at their own level', () => {
  const make = { token: { action: 'make', grant: 40 }, needs: 40 } as const;
  const rotate = { token: { action: 'rotate', grant: 40 }, needs: 40 } as const;
  expect([50, 40, 30].map((level) => verdictsFor(memberOf(1, level), make))).toEqual([['allow'], ['allow'], [400]]);
  expect(verdictsFor(memberOf(1, 40), { ...make, token: { action: 'make', grant: 50 } })).toEqual([400]);
  expect([40, 30].map((level) => verdictsFor(memberOf(1, level), rotate))).toEqual([['allow'], [401]]);
  expect(verdictsFor(memberOf(1, 30), { ...make, token: { action: 'revoke', grant: 40 } })).toEqual([400]);
  expect(verdictsFor({ ...memberOf(1, 40), kind: 'bot' }, make)).toEqual([400]);
});

it('internal projects are hidden from external people and their bots', () => {
  const open: Forest = { ...FOREST, projects: new Map([[7, project(7, 4, 'internal')]]) };
  const bot = { ...nonMember, kind: 'bot' } as const;
  expect([nonMember, bot].map((one) => verdictsFor(one, {}, open))).toEqual([['allow'], ['allow']]);
  expect([nonMember, bot].map((one) => verdictsFor({ ...one, external: true }, {}, open))).toEqual([[404], [404]]);
});

it('resources of another project are found by no member of this one', () => {
  const own = { service: 'collaboration', writes: false } as const;
  const foreign = { ...own, isElsewhere: true } as const;
  expect([memberOf(2, 50), nonMember].map((person) => verdictsFor(person, foreign))).toEqual([[404], [404]]);
  expect(verdictsFor(memberOf(2, 10), own)).toEqual(['allow']);
});
