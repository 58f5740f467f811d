import { matchesWildcard } from '@rookery/kernel';
import type { ClientStrategyRow } from '../feature-flags.queries';
import { USER_LIST_STRATEGY } from '../strategy-rules';

interface ClientFeature {
  readonly name: string;
  readonly description?: string;
  readonly enabled: boolean;
  readonly strategies: { readonly name: string; readonly parameters: Readonly<Record<string, unknown>> }[];
}

/**
 * Features as a client of one environment receives them: flags with strategies for that environment, with these
 * strategies. Flags without one are left out, because clients take an enabled flag without strategies to be on for all
 * users. Source: reference packages-and-admin 9.3.
 */
export function toUnleashFeatures(rows: readonly ClientStrategyRow[], environment: string): readonly ClientFeature[] {
  const features = new Map<string, ClientFeature>();
  for (const row of rows) {
    if (!row.scopes.some((scope) => matchesWildcard(scope, environment))) continue;
    const { flag: name, description, active: enabled } = row;
    const feature = features.get(name) ?? {
      name,
      ...(description === null ? {} : { description }),
      enabled,
      strategies: [],
    };
    feature.strategies.push(toUnleashClientStrategy(row));
    features.set(name, feature);
  }
  return [...features.values()];
}

/** Clients do not know user lists, so the users of a list are sent as ids. */
function toUnleashClientStrategy({
  name,
  parameters,
  user_xids: userIds,
}: ClientStrategyRow): ClientFeature['strategies'][number] {
  return name === USER_LIST_STRATEGY
    ? { name: 'userWithId', parameters: { userIds: userIds ?? '' } }
    : { name, parameters };
}

const textSchema = (description: string) => ({ type: 'string', description }) as const;
const PARAMETERS = {
  groupId: textSchema('Name of the group within which the percentage is computed.'),
  percentage: textSchema('Percentage of the users for whom the flag is on.'),
  rollout: textSchema('Percentage of users, sessions or requests for which the flag is on, by stickiness.'),
  stickiness: textSchema('Field that keeps a user in the same group across evaluations.'),
  userIds: textSchema('Comma-separated user ids.'),
} as const;

/** OpenAPI schema of the features that clients receive. Source: reference packages-and-admin 9.3. */
export const CLIENT_FEATURES = {
  type: 'object',
  required: ['version', 'features'],
  properties: {
    version: { const: 1, description: 'Version of this format.' },
    features: {
      type: 'array',
      description: 'Flags that have a strategy for the environment.',
      items: {
        type: 'object',
        required: ['name', 'enabled', 'strategies'],
        properties: {
          name: { type: 'string' },
          description: { type: 'string' },
          enabled: { type: 'boolean' },
          strategies: {
            type: 'array',
            description: 'The flag is on if one of the strategies applies.',
            items: {
              type: 'object',
              required: ['name', 'parameters'],
              properties: {
                name: { type: 'string' },
                parameters: { type: 'object', description: 'Parameters of the strategy.', properties: PARAMETERS },
              },
            },
          },
        },
      },
    },
  },
} as const;
