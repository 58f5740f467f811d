import type { ObjectId } from '@rookery/git';
import { RefAccess } from '../../protected-refs/ref-protections';
import type { RuleRow } from '../../protected-refs/ref-protections';
import { refusalOfRefs } from './ref-rules';
import type { PushFacts } from './ref-rules';

const [zero, one, two] = ['0', '1', '2'].map((digit) => digit.repeat(40) as ObjectId) as [ObjectId, ObjectId, ObjectId];
const hex = 'a'.repeat(40);
const added = (ref: string) => ({ ref, oldId: zero, newId: one });
const changed = (ref: string) => ({ ref, oldId: one, newId: two });
const removed = (ref: string) => ({ ref, oldId: one, newId: zero });

type Role = 'developer' | 'maintainer' | 'admin';
const LEVELS = { developer: 30, maintainer: 40, admin: 0 };

function rule(push: number[], merge: number[], over: Partial<RuleRow> = {}): RuleRow {
  const levels = { push_levels: push, merge_levels: merge };
  return { kind: 'branch', name: 'main', allow_force_push: false, ...levels, ...over };
}

function factsOf(role: Role, rules: readonly RuleRow[] = [], over: Partial<PushFacts> = {}): PushFacts {
  const caller = { viewer: { isAdmin: role === 'admin', userId: 1 }, project: { id: 1, level: LEVELS[role] } };
  return {
    ...{
      defaultBranch: 'main',
      isEmpty: false,
      canDevelopersPushFirst: false,
      isMaintainer: role !== 'developer',
      isMerge: false,
      isImport: false,
    },
    access: new RefAccess(caller, rules),
    source: 'git',
    noDefaultBranchText: 'no default branch',
    isForced: () => Promise.resolve(false),
    isOnProtectedBranch: () => Promise.resolve(true),
    ...over,
  };
}

it.each([
  [removed('refs/heads/main'), 'The default branch of a project cannot be deleted.'],
  [removed('refs/heads/other'), null],
  [added(`refs/heads/${hex}`), 'You cannot create a branch with a 40-character hexadecimal branch name.'],
  [removed(`refs/heads/${hex}`), null],
  [added('refs/heads/-x'), 'You cannot create a branch with an invalid name.'],
  [added('refs/heads/HEAD'), 'You cannot create a branch with an invalid name.'],
  [added('refs/tags/v1'), null],
  [added('refs/tags/main'), 'You cannot use default branch name to create a tag'],
  [added(`refs/tags/${hex}`), 'You cannot create a tag with a SHA-1 or SHA-256 tag name.'],
  [added('refs/tags/refs/tags/v1'), 'You cannot create a tag with a prohibited pattern.'],
  [changed('refs/tags/v1'), 'You are not allowed to change existing tags on this project.'],
  [removed('refs/tags/v1'), 'You are not allowed to change existing tags on this project.'],
  [added('refs/notes/commits'), null],
  [added('refs/pipelines/1'), 'You cannot push to refs/pipelines/1.'],
])('checks %j', async (update, refusal) => {
  expect(await refusalOfRefs([added('refs/heads/fine'), update], factsOf('developer'))).toBe(refusal);
});

it('lets maintainers change tags', async () => {
  expect(await refusalOfRefs([changed('refs/tags/v1')], factsOf('maintainer'))).toBeNull();
});

it('limits the number of refs', async () => {
  const updates = Array.from({ length: 5001 }, (_, index) => added(`refs/heads/b${index}`));
  const facts = factsOf('developer');
  expect(await refusalOfRefs(updates, facts)).toBe('A push may change at most 5000 refs.');
  expect(await refusalOfRefs(updates.slice(1), facts)).toBeNull();
});

const PUSH = 'You are not allowed to push code to protected branches on this project.';
const FORCE = 'You are not allowed to force push code to a protected branch on this project.';
const DELETE =
  'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.';
const CREATE = 'You are not allowed to create protected branches on this project.';
const MERGE = 'You are not allowed to merge code into protected branches on this project.';
const FULL = rule([40], [40]);
const MERGED = rule([40], [30]);
const TAG = rule([40], [], { kind: 'tag', name: 'v*' });
const WILD = (push: number[], merge: number[]) => rule(push, merge, { name: 'release/*' });
const forced = { isForced: () => Promise.resolve(true) };
const api = { source: 'api' } as const;

describe('a protected branch', () => {
  it.each<[string, Role, RuleRow[], ReturnType<typeof changed>, Partial<PushFacts>, string | null]>([
    ['takes pushes of its level', 'maintainer', [FULL], changed('refs/heads/main'), {}, null],
    ['takes pushes of administrators', 'admin', [FULL], changed('refs/heads/main'), {}, null],
    ['refuses others', 'developer', [FULL], changed('refs/heads/main'), {}, PUSH],
    ['refuses others through the API', 'developer', [FULL], changed('refs/heads/main'), api, PUSH],
    ['refuses all for level 0', 'admin', [rule([0], [40])], changed('refs/heads/main'), {}, PUSH],
    ['is for administrators at level 60', 'admin', [rule([60], [40])], changed('refs/heads/main'), {}, null],
    ['is not for maintainers at level 60', 'maintainer', [rule([60], [40])], changed('refs/heads/main'), {}, PUSH],
    [
      'takes pushes that one of several rules allows',
      'developer',
      [FULL, rule([30], [40], { name: 'm*' })],
      changed('refs/heads/main'),
      {},
      null,
    ],
    ['is not another branch', 'developer', [FULL], changed('refs/heads/maintenance'), {}, null],
    ['refuses merged code by a push', 'developer', [MERGED], changed('refs/heads/main'), {}, PUSH],
    [
      'takes merges of callers who may merge',
      'developer',
      [MERGED],
      changed('refs/heads/main'),
      { ...api, isMerge: true },
      null,
    ],
    ['refuses merges of others', 'developer', [FULL], changed('refs/heads/main'), { ...api, isMerge: true }, MERGE],
    ['refuses forced updates', 'maintainer', [FULL], changed('refs/heads/main'), forced, FORCE],
    [
      'takes forced updates by its rule',
      'maintainer',
      [rule([40], [40], { allow_force_push: true })],
      changed('refs/heads/main'),
      forced,
      null,
    ],
    ['is not deleted by developers', 'developer', [WILD([30], [30])], removed('refs/heads/release/1'), api, DELETE],
    [
      'is not deleted by git',
      'maintainer',
      [WILD([40], [40])],
      removed('refs/heads/release/1'),
      {},
      'You can only delete protected branches using the web interface.',
    ],
    ['is deleted through the API', 'maintainer', [WILD([40], [40])], removed('refs/heads/release/1'), api, null],
    ['is created by callers who may push', 'maintainer', [WILD([40], [40])], added('refs/heads/release/1'), {}, null],
    ['is not created by others', 'developer', [WILD([40], [40])], added('refs/heads/release/1'), {}, CREATE],
    [
      'is not created by git by callers who may merge',
      'developer',
      [WILD([40], [30])],
      added('refs/heads/release/1'),
      {},
      'You can only create protected branches using the web interface and API.',
    ],
    [
      'is created through the API by callers who may merge',
      'developer',
      [WILD([40], [30])],
      added('refs/heads/release/1'),
      api,
      null,
    ],
    [
      'begins at a commit of a protected branch',
      'developer',
      [WILD([40], [30])],
      added('refs/heads/release/1'),
      { ...api, isOnProtectedBranch: () => Promise.resolve(false) },
      'You can only use an existing protected branch ref as the basis of a new protected branch.',
    ],
  ])('%s', async (_, role, rules, update, over, refusal) => {
    expect(await refusalOfRefs([update], factsOf(role, rules, over))).toBe(refusal);
  });
});

it.each<[Role, RuleRow[], string | null]>([
  ['developer', [], 'no default branch'],
  ['developer', [FULL], 'no default branch'],
  ['developer', [rule([30], [40])], null],
  ['maintainer', [], null],
  ['admin', [], null],
])('of an empty repository: a %s with the rules %j', async (role, rules, refusal) => {
  expect(await refusalOfRefs([added('refs/heads/main')], factsOf(role, rules, { isEmpty: true }))).toBe(refusal);
  expect(await refusalOfRefs([added('refs/tags/x')], factsOf(role, rules, { isEmpty: true }))).toBeNull();
});

describe('a protected tag', () => {
  it.each<[string, Role, ReturnType<typeof changed>, Partial<PushFacts>, string | null]>([
    ['is created by its level', 'maintainer', added('refs/tags/v1'), {}, null],
    [
      'is not created by others',
      'developer',
      added('refs/tags/v1'),
      {},
      'You are not allowed to create this tag as it is protected.',
    ],
    ['is not another tag', 'developer', added('refs/tags/w1'), {}, null],
    ['is never changed', 'admin', changed('refs/tags/v1'), api, 'Protected tags cannot be updated.'],
    [
      'is not deleted by git',
      'maintainer',
      removed('refs/tags/v1'),
      {},
      'You can only delete protected tags using the web interface.',
    ],
    ['is deleted through the API', 'maintainer', removed('refs/tags/v1'), api, null],
    [
      'is not deleted by developers',
      'developer',
      removed('refs/tags/v1'),
      api,
      'You are not allowed to change existing tags on this project.',
    ],
  ])('%s', async (_, role, update, over, refusal) => {
    expect(await refusalOfRefs([update], factsOf(role, [TAG], over))).toBe(refusal);
  });
});
