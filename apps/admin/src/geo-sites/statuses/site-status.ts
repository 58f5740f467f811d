/** Replication slots of the server of a database. */
export interface Slots {
  readonly count: number;
  readonly used: number;
  /** What is kept for the one that is furthest behind. Units: bytes. */
  readonly retained: number;
}

/** What was measured of an estate, by itself. It is stored so. */
export interface Measured {
  /** Of the API that it serves. */
  readonly version: string;
  readonly projects: number;
  /** null: another estate, whose own business they are. */
  readonly slots: Slots | null;
}

/** How a site was found. */
export interface Finding {
  readonly isHealthy: boolean;
  /** `Healthy`, or why it is not. */
  readonly health: string;
  /** null: it did not say. */
  readonly measured: Measured | null;
}

/** A namespace that a site is to copy. Shape: names as the API has them. */
export interface SyncedNamespace {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly kind: string;
  readonly full_path: string;
  readonly parent_id: number | null;
}

/** How a site is, as far as it is known now. */
export interface ShownStatus {
  /** null: an estate that speaks of itself, and knows no number of its own. */
  readonly siteId: number | null;
  readonly isPrimary: boolean;
  readonly selectiveSyncType: string | null;
  readonly namespaces: readonly SyncedNamespace[];
  readonly found: Finding;
  readonly checkedAt: Date;
  /** When it was last healthy. */
  readonly healthyAt: Date | null;
}

export const HEALTHY = 'Healthy';
export const HEALTH_STATUSES = [HEALTHY, 'Unhealthy'] as const;

export function healthStatusOf({ isHealthy }: Pick<Finding, 'isHealthy'>): (typeof HEALTH_STATUSES)[number] {
  return isHealthy ? HEALTHY : 'Unhealthy';
}

export function healthy(measured: Measured): Finding {
  return { isHealthy: true, health: HEALTHY, measured };
}

export function unhealthy(health: string): Finding {
  return { isHealthy: false, health, measured: null };
}

/** Sites are asked once a minute; what is this old was found before whoever asks them stopped. Units: milliseconds. */
const OUTDATED_MS = 5 * 60_000;

/** What is known now of something found then: nobody is healthy because they once were. */
export function knownOf(found: Finding, checkedAt: Date, now: Date): Finding {
  if (!found.isHealthy || now.getTime() - checkedAt.getTime() <= OUTDATED_MS) return found;
  return { ...found, isHealthy: false, health: `The site was last asked at ${checkedAt.toISOString()}.` };
}

const VERSION = /^[\w.+-]{1,64}$/;
const LONGEST_HEALTH = 255;

/** What another site says of itself, of which only what is known is kept. Shape: null when it is no status. */
export function findingIn(answer: unknown): Finding | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const said = answer as Readonly<Record<string, unknown>>;
  const { version, healthy: isHealthy, health, projects_count: projects } = said;
  if (typeof version !== 'string' || !VERSION.test(version) || typeof isHealthy !== 'boolean') return null;
  if (typeof health !== 'string' || health.length > LONGEST_HEALTH || /\p{Cc}/u.test(health)) return null;
  if (typeof projects !== 'number' || !Number.isSafeInteger(projects) || projects < 0) return null;
  const measured = { version, projects, slots: null };
  return { isHealthy, health: isHealthy ? HEALTHY : health || 'The site says that it is not healthy.', measured };
}
