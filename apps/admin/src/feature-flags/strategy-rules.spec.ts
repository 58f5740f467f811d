import { findStrategyCountProblems, findEnvironmentScopeProblems, findFlagStrategyProblems } from './strategy-rules';

const WRONG = ['parameters are invalid'];
const rollout = { groupId: 'default', rollout: '50', stickiness: 'default' };

test.each([
  ['default', {}, []],
  ['default', { a: '1' }, WRONG],
  ['default', null, WRONG],
  ['none', {}, ['strategy name is invalid']],
  ['constructor', {}, ['strategy name is invalid']],
  ['userWithId', { userIds: 'a,b' }, []],
  ['userWithId', { userIds: '' }, []],
  ['userWithId', {}, WRONG],
  ['userWithId', { userIds: 'a', groupId: 'x' }, WRONG],
  ['userWithId', { toString: 'a' }, WRONG],
  [
    'userWithId',
    { userIds: 'a,a' },
    ['userIds must be a string of unique comma separated values each 256 characters or less'],
  ],
  ['userWithId', { userIds: 7 }, [expect.stringMatching(/^userIds must be/)]],
  ['gradualRolloutUserId', { groupId: 'default', percentage: '0' }, []],
  ['gradualRolloutUserId', { groupId: 'default', percentage: '100' }, []],
  ['gradualRolloutUserId', { percentage: '100' }, WRONG],
  [
    'gradualRolloutUserId',
    { groupId: 'default', percentage: 50 },
    ['percentage must be a string between 0 and 100 inclusive'],
  ],
  [
    'gradualRolloutUserId',
    { groupId: 'Default', percentage: '101' },
    ['groupId parameter is invalid', 'percentage must be a string between 0 and 100 inclusive'],
  ],
  ['gradualRolloutUserId', { groupId: 'a'.repeat(33), percentage: '1' }, ['groupId parameter is invalid']],
  ['gradualRolloutUserId', { groupId: '', percentage: '1' }, ['groupId parameter is invalid']],
  ['flexibleRollout', rollout, []],
  ['flexibleRollout', { ...rollout, stickiness: 'userId' }, []],
  ['flexibleRollout', { ...rollout, stickiness: 'sessionId' }, []],
  ['flexibleRollout', { ...rollout, stickiness: 'random' }, []],
  [
    'flexibleRollout',
    { ...rollout, stickiness: 'moon' },
    ['stickiness parameter must be default, userId, sessionId, or random'],
  ],
  ['flexibleRollout', { ...rollout, rollout: '050' }, ['rollout must be a string between 0 and 100 inclusive']],
])('%s with %j: %j', (name, parameters, problems) => {
  expect(findFlagStrategyProblems({ name, parameters, hasList: false })).toEqual(problems);
});

test('a strategy with a user list needs one, and other strategies must not have one', () => {
  const about = (name: string, hasList: boolean) => findFlagStrategyProblems({ name, parameters: {}, hasList });
  expect([about('gitlabUserList', true), about('default', false)]).toEqual([[], []]);
  expect([about('gitlabUserList', false), about('default', true)]).toEqual([
    ["user list can't be blank"],
    ['user list must be blank'],
  ]);
});

test.each([
  [['*'], 0],
  [['production', 'review/*'], 0],
  [['${A}.b c_d'], 0],
  [['x'.repeat(255)], 0],
  [[''], 1],
  [['ä'], 1],
  [['a\nb'], 1],
  [['a,b'], 1],
  [['x'.repeat(256)], 1],
  [['a', 'a'], 1],
])('environments %j: %i problems', (scopes, count) => {
  expect(findEnvironmentScopeProblems(scopes)).toHaveLength(count);
});

test('a flag has at most 50 strategies, and each of them 50 scopes', () => {
  expect([findStrategyCountProblems(50, 50), findStrategyCountProblems(51, 51)]).toEqual([
    [],
    ['Maximum number of strategies (50) exceeded', 'Maximum number of scopes (50) exceeded'],
  ]);
});
