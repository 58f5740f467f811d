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
 * What a client of one environment is told: flags that have a strategy for it, with these strategies. A flag without
 * one is left out, since clients take a flag that is on and has no strategy for one that is on for everybody.
 * Source: reference packages-and-admin 9.3.
 */
export function clientFeatures(rows: readonly ClientStrategyRow[], environment: string): readonly ClientFeature[] {
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
    feature.strategies.push(clientStrategy(row));
    features.set(name, feature);
  }
  return [...features.values()];
}

/** Clients know no lists: to them these are users by id. */
function clientStrategy({
  name,
  parameters,
  user_xids: userIds,
}: ClientStrategyRow): ClientFeature['strategies'][number] {
  return name === USER_LIST_STRATEGY
    ? { name: 'userWithId', parameters: { userIds: userIds ?? '' } }
    : { name, parameters };
}

const text = (description: string) => ({ type: 'string', description }) as const;
const PARAMETERS = {
  groupId: text('Names the group that the share is counted in.'),
  percentage: text('Share of the people for whom it is on, in percent.'),
  rollout: text('Share of the requests for which it is on, in percent.'),
  stickiness: text('By what somebody stays on the same side.'),
  userIds: text('Ids of people, by commas.'),
} as const;

/** What a client reads. Source: reference packages-and-admin 9.3. */
export const CLIENT_FEATURES = {
  type: 'object',
  required: ['version', 'features'],
  properties: {
    version: { const: 1, description: 'Of this shape.' },
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
            description: 'The flag is on where one of them says so.',
            items: {
              type: 'object',
              required: ['name', 'parameters'],
              properties: {
                name: { type: 'string' },
                parameters: { type: 'object', description: 'As the strategy takes them.', properties: PARAMETERS },
              },
            },
          },
        },
      },
    },
  },
} as const;
