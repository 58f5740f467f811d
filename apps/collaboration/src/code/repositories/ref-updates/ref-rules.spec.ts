import type { ObjectId } from '@rookery/git';
import { RefAccess } from '../../protected-refs/ref-protections';
import type { RuleRow } from '../../protected-refs/ref-protections';
import { refusalOfRefs } from './ref-rules';
import type { PushFacts } from './ref-rules';

const [zero, one, two] = ['0', '1', '2'].map((digit) => digit.repeat(40) as ObjectId) as [ObjectId, ObjectId, ObjectId];
const hex = 'a'.repeat(40);
const refCreation = (ref: string) => ({ ref, oldId: zero, newId: one });
const refChange = (ref: string) => ({ ref, oldId: one, newId: two });
const refDeletion = (ref: string) => ({ ref, oldId: one, newId: zero });

type Role = 'developer' | 'maintainer' | 'admin';
const LEVELS = { developer: 30, maintainer: 40, admin: 0 };

function branchRule(push: number[], merge: number[], over: Partial<RuleRow> = {}): RuleRow {
  const levels = { push_levels: push, merge_levels: merge };
  return { kind: 'branch', name: 'main', allow_force_push: false, ...levels, ...over };
}

function createFacts(role: Role, rules: readonly RuleRow[] = [], overrides: Partial<PushFacts> = {}): PushFacts {
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
    ...overrides,
  };
}

it.each([
  [refDeletion('refs/heads/main'), 'The default branch of a project cannot be deleted.'],
  [refDeletion('refs/heads/other'), null],
  [refCreation(`refs/heads/${hex}`), 'You cannot create a branch with a 40-character hexadecimal branch name.'],
  [refDeletion(`refs/heads/${hex}`), null],
  [refCreation('refs/heads/-x'), 'You cannot create a branch with an invalid name.'],
  [refCreation('refs/heads/HEAD'), 'You cannot create a branch with an invalid name.'],
  [refCreation('refs/tags/v1'), null],
  [refCreation('refs/tags/main'), 'You cannot use default branch name to create a tag'],
  [refCreation(`refs/tags/${hex}`), 'You cannot create a tag with a SHA-1 or SHA-256 tag name.'],
  [refCreation('refs/tags/refs/tags/v1'), 'You cannot create a tag with a prohibited pattern.'],
  [refChange('refs/tags/v1'), 'You are not allowed to change existing tags on this project.'],
  [refDeletion('refs/tags/v1'), 'You are not allowed to change existing tags on this project.'],
  [refCreation('refs/notes/commits'), null],
  [refCreation('refs/pipelines/1'), 'You cannot push to refs/pipelines/1.'],
])('checks %j', async (update, refusal) => {
  expect(await refusalOfRefs([refCreation('refs/heads/fine'), update], createFacts('developer'))).toBe(refusal);
});

it('lets maintainers change tags', async () => {
  expect(await refusalOfRefs([refChange('refs/tags/v1')], createFacts('maintainer'))).toBeNull();
});

it('limits the number of refs', async () => {
  const updates = Array.from({ length: 5001 }, (_, index) => refCreation(`refs/heads/b${index}`));
  const facts = createFacts('developer');
  expect(await refusalOfRefs(updates, facts)).toBe('A push may change at most 5000 refs.');
  expect(await refusalOfRefs(updates.slice(1), facts)).toBeNull();
});

const PUSH = 'You are not allowed to push code to protected branches on this project.';
const FORCE = 'You are not allowed to force push code to a protected branch on this project.';
const DELETE =
  'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.';
const CREATE = 'You are not allowed to create protected branches on this project.';
const MERGE = 'You are not allowed to merge code into protected branches on this project.';
const FULL = branchRule([40], [40]);
const MERGED = branchRule([40], [30]);
const TAG = branchRule([40], [], { kind: 'tag', name: 'v*' });
const wildcardRule = (push: number[], merge: number[]) => branchRule(push, merge, { name: 'release/*' });
const forced = { isForced: () => Promise.resolve(true) };
const api = { source: 'api' } as const;

describe('a protected branch', () => {
  it.each<[string, Role, RuleRow[], ReturnType<typeof refChange>, Partial<PushFacts>, string | null]>([
    ['takes pushes of its level', 'maintainer', [FULL], refChange('refs/heads/main'), {}, null],
    ['takes pushes of administrators', 'admin', [FULL], refChange('refs/heads/main'), {}, null],
    ['refuses others', 'developer', [FULL], refChange('refs/heads/main'), {}, PUSH],
    ['refuses others through the API', 'developer', [FULL], refChange('refs/heads/main'), api, PUSH],
    ['refuses all for level 0', 'admin', [branchRule([0], [40])], refChange('refs/heads/main'), {}, PUSH],
    ['is for administrators at level 60', 'admin', [branchRule([60], [40])], refChange('refs/heads/main'), {}, null],
    [
      'is not for maintainers at level 60',
      'maintainer',
      [branchRule([60], [40])],
      refChange('refs/heads/main'),
      {},
      PUSH,
    ],
    [
      'takes pushes that one of several rules allows',
      'developer',
      [FULL, branchRule([30], [40], { name: 'm*' })],
      refChange('refs/heads/main'),
      {},
      null,
    ],
    ['is not another branch', 'developer', [FULL], refChange('refs/heads/maintenance'), {}, null],
    ['refuses merged code by a push', 'developer', [MERGED], refChange('refs/heads/main'), {}, PUSH],
    [
      'takes merges of callers who may merge',
      'developer',
      [MERGED],
      refChange('refs/heads/main'),
      { ...api, isMerge: true },
      null,
    ],
    ['refuses merges of others', 'developer', [FULL], refChange('refs/heads/main'), { ...api, isMerge: true }, MERGE],
    ['refuses forced updates', 'maintainer', [FULL], refChange('refs/heads/main'), forced, FORCE],
    [
      'takes forced updates by its rule',
      'maintainer',
      [branchRule([40], [40], { allow_force_push: true })],
      refChange('refs/heads/main'),
      forced,
      null,
    ],
    [
      'is not deleted by developers',
      'developer',
      [wildcardRule([30], [30])],
      refDeletion('refs/heads/release/1'),
      api,
      DELETE,
    ],
    [
      'is not deleted by git',
      'maintainer',
      [wildcardRule([40], [40])],
      refDeletion('refs/heads/release/1'),
      {},
      'You can only delete protected branches using the web interface.',
    ],
    [
      'is deleted through the API',
      'maintainer',
      [wildcardRule([40], [40])],
      refDeletion('refs/heads/release/1'),
      api,
      null,
    ],
    [
      'is created by callers who may push',
      'maintainer',
      [wildcardRule([40], [40])],
      refCreation('refs/heads/release/1'),
      {},
      null,
    ],
    [
      'is not created by others',
      'developer',
      [wildcardRule([40], [40])],
      refCreation('refs/heads/release/1'),
      {},
      CREATE,
    ],
    [
      'is not created by git by callers who may merge',
      'developer',
      [wildcardRule([40], [30])],
      refCreation('refs/heads/release/1'),
      {},
      'You can only create protected branches using the web interface and API.',
    ],
    [
      'is created through the API by callers who may merge',
      'developer',
      [wildcardRule([40], [30])],
      refCreation('refs/heads/release/1'),
      api,
      null,
    ],
    [
      'begins at a commit of a protected branch',
      'developer',
      [wildcardRule([40], [30])],
      refCreation('refs/heads/release/1'),
      { ...api, isOnProtectedBranch: () => Promise.resolve(false) },
      'You can only use an existing protected branch ref as the basis of a new protected branch.',
    ],
  ])('%s', async (_, role, rules, update, over, refusal) => {
    expect(await refusalOfRefs([update], createFacts(role, rules, over))).toBe(refusal);
  });
});

it.each<[Role, RuleRow[], string | null]>([
  ['developer', [], 'no default branch'],
  ['developer', [FULL], 'no default branch'],
  ['developer', [branchRule([30], [40])], null],
  ['maintainer', [], null],
  ['admin', [], null],
])('of an empty repository: a %s with the rules %j', async (role, rules, refusal) => {
  expect(await refusalOfRefs([refCreation('refs/heads/main')], createFacts(role, rules, { isEmpty: true }))).toBe(
    refusal,
  );
  expect(await refusalOfRefs([refCreation('refs/tags/x')], createFacts(role, rules, { isEmpty: true }))).toBeNull();
});

describe('a protected tag', () => {
  it.each<[string, Role, ReturnType<typeof refChange>, Partial<PushFacts>, string | null]>([
    ['is created by its level', 'maintainer', refCreation('refs/tags/v1'), {}, null],
    [
      'is not created by others',
      'developer',
      refCreation('refs/tags/v1'),
      {},
      'You are not allowed to create this tag as it is protected.',
    ],
    ['is not another tag', 'developer', refCreation('refs/tags/w1'), {}, null],
    ['is never changed', 'admin', refChange('refs/tags/v1'), api, 'Protected tags cannot be updated.'],
    [
      'is not deleted by git',
      'maintainer',
      refDeletion('refs/tags/v1'),
      {},
      'You can only delete protected tags using the web interface.',
    ],
    ['is deleted through the API', 'maintainer', refDeletion('refs/tags/v1'), api, null],
    [
      'is not deleted by developers',
      'developer',
      refDeletion('refs/tags/v1'),
      api,
      'You are not allowed to change existing tags on this project.',
    ],
  ])('%s', async (_, role, update, over, refusal) => {
    expect(await refusalOfRefs([update], createFacts(role, [TAG], over))).toBe(refusal);
  });
});
