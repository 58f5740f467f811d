import type { Forest, Group, Project } from './forest';
import { find, NO_FOREST } from './forest';
import { isMovable, isShareable, moved, without, withShare } from './forest-steps';
import { departed, newcomer, withMember, withoutFamily, withRequest, withToken } from './people';
import type { PersonState } from './people';
import type { Question } from './reference-model';
import { levelOf, refusalsAtDoor, verdicts } from './reference-model';

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

/** Two trees: 1 with 2 and the project 7 in that; 4 with 5 and 6 below each other. */
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
const TOKEN = { scope: 'api', family: 't', is: 'good' } as const;
const stranger = withToken(newcomer(false), 't', TOKEN);
const memberOf = (id: number, level: number): PersonState =>
  withMember(stranger, `group ${id}`, { level, over: false });
const levelIn7 = (person: PersonState, forest: Forest): number =>
  levelOf(person, forest, find(forest, { kind: 'project', id: 7 })!);
const asked = (person: PersonState, question: Partial<Question>, forest = FOREST) =>
  verdicts(
    { service: 'identity', source: { kind: 'project', id: 7 }, needs: 0, writes: true, ...question },
    forest,
    person,
    't',
  );

describe('a group that is invited', () => {
  const share = { source: 'group 1', group: 5, level: 30, over: false } as const;
  const shared = withShare(FOREST, share);

  it('gives its members, and those of groups above it, at most what it was given', () => {
    expect(levelIn7(memberOf(5, 20), shared)).toBe(20);
    expect(levelIn7(memberOf(5, 40), shared)).toBe(30);
    expect(levelIn7(memberOf(4, 50), shared)).toBe(30);
  });

  it('gives nothing to members of its subgroups, to those whom it invited itself, and after its last day', () => {
    expect(levelIn7(memberOf(6, 50), shared)).toBe(0);
    expect(levelIn7(memberOf(6, 50), withShare(shared, { source: 'group 5', group: 6, level: 50, over: false }))).toBe(
      0,
    );
    expect(levelIn7(memberOf(5, 40), withShare(shared, { ...share, over: true }))).toBe(0);
  });

  it('gives nothing when it, or what it was invited to, is gone', () => {
    const left = without(shared, find(shared, { kind: 'group', id: 4 })!);
    expect(left.shares).toEqual([]);
    expect(without(shared, find(shared, { kind: 'group', id: 1 })!).shares).toEqual([]);
  });

  it('is not invited twice, nor where its members are members already', () => {
    expect(isShareable(FOREST, 'project 7', 5)).toBe(true);
    expect(isShareable(shared, 'group 1', 5)).toBe(false);
    expect(isShareable(FOREST, 'project 7', 1)).toBe(false);
  });

  it('is shared by owners, ended without effect by others, and hidden from them with 404', () => {
    const give = {
      share: { action: 'give', group: 5, grant: 30 },
      needs: 50,
      source: { kind: 'group', id: 1 },
    } as const;
    expect(asked(memberOf(1, 50), give)).toEqual(['allow']);
    expect(asked(memberOf(1, 40), give)).toEqual([404]);
    const end = { ...give, share: { ...give.share, action: 'end' } } as const;
    expect(asked(memberOf(1, 40), end)).toEqual([404]);
    expect(asked(memberOf(1, 40), end, shared)).toEqual(['allow']);
  });

  it('gets in a project at most the level of who invites it', () => {
    const give = { share: { action: 'give', group: 5, grant: 50 }, needs: 40 } as const;
    expect(asked(memberOf(2, 40), give)).toEqual([403]);
    expect(asked(memberOf(2, 50), give)).toEqual(['allow']);
    expect(asked(memberOf(2, 30), give)).toEqual([403]);
  });
});

describe('what moves', () => {
  it('keeps its members, loses those from above and gains those of its new place', () => {
    const after = moved(FOREST, find(FOREST, { kind: 'group', id: 2 })!, 6);
    expect(levelIn7(memberOf(1, 30), after)).toBe(0);
    expect(levelIn7(memberOf(2, 30), after)).toBe(30);
    expect(levelIn7(memberOf(4, 30), after)).toBe(30);
    expect(after.former.get('g1/g2/p7')).toBe(7);
  });

  it('is seen by no more people than its new home, and never by more than before', () => {
    const open = moved(FOREST, find(FOREST, { kind: 'group', id: 5 })!, 2);
    expect(open.groups.get(5)?.visibility).toBe('private');
    expect(moved(FOREST, find(FOREST, { kind: 'project', id: 7 })!, 4).projects.get(7)?.visibility).toBe('private');
  });

  it('does not move below itself or to where it is', () => {
    const four = find(FOREST, { kind: 'group', id: 4 })!;
    expect([6, 4, null, 1].map((to) => isMovable(FOREST, four, to))).toEqual([false, false, false, true]);
  });

  it('goes only where its mover sees a group', () => {
    expect(asked(memberOf(1, 50), { needs: 50, target: 4 })).toEqual(['allow']);
    expect(asked(memberOf(1, 50), { needs: 50, target: 6 })).toEqual([404]);
  });
});

it('a request gives nothing, and is answered once, by who manages members', () => {
  const asking = withRequest(memberOf(4, 10), 'project 7', true);
  expect(levelIn7(asking, FOREST)).toBe(0);
  expect(levelIn7(withMember(asking, 'project 7', { level: 30, over: false }), FOREST)).toBe(30);
  expect(withMember(asking, 'project 7', { level: 30, over: false }).requests.size).toBe(0);
  const approve = { request: { action: 'approve', isOpen: true, grant: 50, isSelf: false }, needs: 40 } as const;
  expect(asked(memberOf(1, 30), approve)).toEqual([403]);
  expect(asked(memberOf(1, 40), approve)).toEqual([403]);
  expect(asked(memberOf(1, 50), approve)).toEqual(['allow']);
  expect(asked(memberOf(1, 50), { ...approve, request: { ...approve.request, isOpen: false } })).toEqual([404]);
});

it('who is not active is refused, and finds everything again', () => {
  const banned: PersonState = { ...memberOf(1, 30), standing: 'banned' };
  expect(refusalsAtDoor(banned, 't')).toEqual([403]);
  expect(asked(banned, { service: 'package' })).toEqual([403, 404]);
  expect(levelIn7({ ...banned, standing: 'active' }, FOREST)).toBe(30);
});

it('a family ends with all its tokens', () => {
  const two = withToken(withToken(stranger, 't', { ...TOKEN, is: 'revoked' }), 'u', TOKEN);
  const other = withToken(two, 'v', { ...TOKEN, family: 'v' });
  expect(['t', 'u', 'v'].map((key) => refusalsAtDoor(withoutFamily(other, 't'), key))).toEqual([[401], [401], null]);
});

describe('an administrator', () => {
  const officer = (over: Partial<PersonState> = {}): PersonState => ({ ...stranger, admin: true, ...over });

  it('does what root may, and nothing of it when they are one no more', () => {
    expect(asked(officer(), { needs: 40 })).toEqual(['allow']);
    expect(asked(officer({ admin: false }), { needs: 40 })).toEqual([404]);
    const alone = { source: null, administers: true } as const;
    expect([officer(), stranger].map((person) => asked(person, alone))).toEqual([['allow'], [403]]);
  });

  it('who is gone is told so first by the door, then by what knows of it', () => {
    expect(refusalsAtDoor(departed(officer()), 't')).toEqual([401, 403]);
    expect(asked(departed(officer()), { service: 'collaboration' })).toEqual([401, 403, 404]);
  });
});

it('tokens of groups and projects are for those who manage them, and of no level above their own', () => {
  const make = { token: { action: 'make', grant: 40 }, needs: 40 } as const;
  const rotate = { token: { action: 'rotate', grant: 40 }, needs: 40 } as const;
  expect([50, 40, 30].map((level) => asked(memberOf(1, level), make))).toEqual([['allow'], ['allow'], [400]]);
  expect(asked(memberOf(1, 40), { ...make, token: { action: 'make', grant: 50 } })).toEqual([400]);
  expect([40, 30].map((level) => asked(memberOf(1, level), rotate))).toEqual([['allow'], [401]]);
  expect(asked(memberOf(1, 30), { ...make, token: { action: 'revoke', grant: 40 } })).toEqual([400]);
  expect(asked({ ...memberOf(1, 40), kind: 'bot' }, make)).toEqual([400]);
});

it('what is internal is not for external people, nor for their bots', () => {
  const open: Forest = { ...FOREST, projects: new Map([[7, project(7, 4, 'internal')]]) };
  const bot = { ...stranger, kind: 'bot' } as const;
  expect([stranger, bot].map((one) => asked(one, {}, open))).toEqual([['allow'], ['allow']]);
  expect([stranger, bot].map((one) => asked({ ...one, external: true }, {}, open))).toEqual([[404], [404]]);
});
