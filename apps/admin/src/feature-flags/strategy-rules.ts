import { areUserXids, USER_XIDS_RULE } from '../feature-flags-user-lists/user-xids';

/** Source: reference packages-and-admin 9.2. */
const STRATEGY_NAMES = ['default', 'gitlabUserList', 'gradualRolloutUserId', 'flexibleRollout', 'userWithId'] as const;
export type StrategyName = (typeof STRATEGY_NAMES)[number];

/** The strategy that takes its users from a user list. */
export const USER_LIST_STRATEGY: StrategyName = 'gitlabUserList';

type ParameterRule = (value: unknown) => string | null;

const findRolloutGroupIdProblem: ParameterRule = (value) =>
  typeof value === 'string' && /^[a-z]{1,32}$/.test(value) ? null : 'groupId parameter is invalid';
const createPercentageRule =
  (parameterName: string): ParameterRule =>
  (value) =>
    typeof value === 'string' && /^(?:\d|[1-9]\d|100)$/.test(value)
      ? null
      : `${parameterName} must be a string between 0 and 100 inclusive`;
const STICKINESS = ['default', 'userId', 'sessionId', 'random'];
const findStickinessProblem: ParameterRule = (value) =>
  STICKINESS.includes(value as string) ? null : 'stickiness parameter must be default, userId, sessionId, or random';
const findUserIdsParameterProblem: ParameterRule = (value) =>
  typeof value === 'string' && areUserXids(value) ? null : `userIds ${USER_XIDS_RULE}`;

/** Allowed parameters by strategy, each with its rule. */
const PARAMETERS: Readonly<Record<StrategyName, Readonly<Record<string, ParameterRule>>>> = {
  default: {},
  gitlabUserList: {},
  userWithId: { userIds: findUserIdsParameterProblem },
  gradualRolloutUserId: { groupId: findRolloutGroupIdProblem, percentage: createPercentageRule('percentage') },
  flexibleRollout: {
    groupId: findRolloutGroupIdProblem,
    rollout: createPercentageRule('rollout'),
    stickiness: findStickinessProblem,
  },
};

function isStrategyName(name: string): name is StrategyName {
  return (STRATEGY_NAMES as readonly string[]).includes(name);
}

/** Returns the problems of a strategy, as API error messages. */
export function findFlagStrategyProblems(strategy: {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly hasList: boolean;
}): string[] {
  const { name, parameters, hasList } = strategy;
  if (!isStrategyName(name)) return ['strategy name is invalid'];
  const needsList = name === USER_LIST_STRATEGY;
  const listProblem = needsList === hasList ? [] : [`user list ${needsList ? "can't be blank" : 'must be blank'}`];
  return [...findStrategyParameterProblems(PARAMETERS[name], parameters), ...listProblem];
}

function findStrategyParameterProblems(
  rules: Readonly<Record<string, ParameterRule>>,
  parameters: Readonly<Record<string, unknown>> | null,
): string[] {
  const names = Object.keys(rules);
  const given = Object.keys(parameters ?? {});
  if (parameters === null || given.length !== names.length || given.some((name) => !Object.hasOwn(rules, name))) {
    return ['parameters are invalid'];
  }
  return names.flatMap((name) => rules[name]!(parameters[name]) ?? []);
}

/** Units: characters. */
const LONGEST_SCOPE = 255;
const SCOPE = /^[\w/${}. *-]+$/;

/** Returns the problems of a strategy's environments. */
export function findEnvironmentScopeProblems(scopes: readonly string[]): string[] {
  return [
    ...(scopes.every((scope) => SCOPE.test(scope))
      ? []
      : ["environment scope can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"]),
    ...(scopes.every((scope) => scope.length <= LONGEST_SCOPE)
      ? []
      : [`environment scope is too long (maximum is ${LONGEST_SCOPE} characters)`]),
    ...(new Set(scopes).size === scopes.length ? [] : ['environment scope has already been taken']),
  ];
}

const MOST = 50;

/**
 * Checks the numbers of strategies and scopes of a flag. Limits are low because clients repeatedly fetch all of them.
 */
export function findStrategyCountProblems(strategies: number, scopes: number): string[] {
  return [
    ...(strategies > MOST ? [`Maximum number of strategies (${MOST}) exceeded`] : []),
    ...(scopes > MOST ? [`Maximum number of scopes (${MOST}) exceeded`] : []),
  ];
}
