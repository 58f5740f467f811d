import { crc32 } from 'node:zlib';
import type { FeatureGates } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';

/** What is known of a feature before anybody sets it. */
export interface FeatureDefinition {
  /** What counts while nobody has set it. */
  readonly defaultEnabled: boolean;
}
export type ActorKind = 'User' | 'Group' | 'Project' | 'Namespaces::UserNamespace';

/** The features that services ask for: the one place that names them. Source: reference packages-and-admin 10.1. */
export const FEATURES = {
  /** Epics take a colour. Asked for the group and the caller. */
  epic_highlight_color: { defaultEnabled: false },
  /** Package protection rules may also restrict deletion. Asked for the project and the caller. */
  packages_protected_packages_delete: { defaultEnabled: false },
  /** Broadcast messages are shown by the role of the reader. Asked for the caller. */
  role_targeted_broadcast_messages: { defaultEnabled: false },
} as const satisfies Record<string, FeatureDefinition>;
export type FeatureName = keyof typeof FEATURES;

/** The same by any text that somebody sends. */
export const FEATURE_DEFINITIONS: ReadonlyMap<string, FeatureDefinition> = new Map(Object.entries(FEATURES));

/** Groups of people that a feature may be switched on for. */
export const FEATURE_GROUPS = ['administrators'] as const;

/** For whom a feature is asked; what is left out takes no part. */
export interface Asked {
  readonly viewer?: Viewer;
  readonly projectId?: number;
  readonly groupId?: number;
}

/** How a gate names somebody. */
export function actorOf(kind: ActorKind, id: number): string {
  return `${kind}:${id}`;
}

/**
 * Whether a feature is on for any of those that it is asked for. Shape: `gates` undefined means that nobody has set it;
 * `chance` from 0 to below 1 decides a percentage of time. An actor is in or out of a percentage of actors for good.
 */
export function isOnFor(name: FeatureName, gates: FeatureGates | undefined, asked: Asked, chance: number): boolean {
  if (!gates) return FEATURES[name].defaultEnabled;
  if (gates.boolean || chance * 100 < gates.percentage_of_time) return true;
  const isMeant = (actor: string): boolean =>
    gates.actors.includes(actor) || crc32(name + actor) % 100_000 < gates.percentage_of_actors * 1000;
  return actorsIn(asked).some(isMeant) || (asked.viewer?.isAdmin === true && gates.groups.includes('administrators'));
}

function actorsIn({ viewer, projectId, groupId }: Asked): string[] {
  const ids: readonly (readonly [ActorKind, number | null | undefined])[] = [
    ['User', viewer?.userId],
    ['Project', projectId],
    ['Group', groupId],
  ];
  return ids.flatMap(([kind, id]) => (typeof id === 'number' ? [actorOf(kind, id)] : []));
}
