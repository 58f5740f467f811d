import { crc32 } from 'node:zlib';
import type { FeatureGates } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';

/** Properties of a feature that do not depend on its gates. */
export interface FeatureDefinition {
  /** Applies until an administrator sets the feature. */
  readonly defaultEnabled: boolean;
}
export type ActorKind = 'User' | 'Group' | 'Project' | 'Namespaces::UserNamespace';

/** The features that services check: the only place that names them. Source: reference packages-and-admin 10.1. */
export const FEATURES = {
  /** Epics have a colour. Checked for the group and the caller. */
  epic_highlight_color: { defaultEnabled: false },
  /** Package protection rules may also restrict deletion. Checked for the project and the caller. */
  packages_protected_packages_delete: { defaultEnabled: false },
  /** Broadcast messages are shown by the role of the reader. Checked for the caller. */
  role_targeted_broadcast_messages: { defaultEnabled: false },
} as const satisfies Record<string, FeatureDefinition>;
export type FeatureName = keyof typeof FEATURES;

/** Definitions of the features by name, to look up any text that a client sends. */
export const FEATURE_DEFINITIONS: ReadonlyMap<string, FeatureDefinition> = new Map(Object.entries(FEATURES));

/** Groups of users that a feature can be switched on for. */
export const FEATURE_GROUPS = ['administrators'] as const;

/** The actors that a feature is checked for; absent ones are not checked. */
export interface FeatureContext {
  readonly viewer?: Viewer;
  readonly projectId?: number;
  readonly groupId?: number;
}

/** Name of an actor in a gate. */
export function featureGateActorKey(kind: ActorKind, id: number): string {
  return `${kind}:${id}`;
}

/**
 * Whether a feature is on for any of the given actors. `gates` is undefined when the feature was never set; `chance`
 * from 0 to below 1 decides a percentage of time. An actor stays in or out of a percentage of actors.
 */
export function isFeatureOn(
  name: FeatureName,
  gates: FeatureGates | undefined,
  asked: FeatureContext,
  chance: number,
): boolean {
  if (!gates) return FEATURES[name].defaultEnabled;
  if (gates.boolean || chance * 100 < gates.percentage_of_time) return true;
  const isEnabledFor = (actor: string): boolean =>
    gates.actors.includes(actor) || crc32(name + actor) % 100_000 < gates.percentage_of_actors * 1000;
  return (
    actorKeysOfFeatureContext(asked).some(isEnabledFor) ||
    (asked.viewer?.isAdmin === true && gates.groups.includes('administrators'))
  );
}

function actorKeysOfFeatureContext({ viewer, projectId, groupId }: FeatureContext): string[] {
  const ids: readonly (readonly [ActorKind, number | null | undefined])[] = [
    ['User', viewer?.userId],
    ['Project', projectId],
    ['Group', groupId],
  ];
  return ids.flatMap(([kind, id]) => (typeof id === 'number' ? [featureGateActorKey(kind, id)] : []));
}
