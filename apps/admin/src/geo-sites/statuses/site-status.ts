/** Replication slots of the server of a database. */
export interface ReplicationSlots {
  readonly count: number;
  readonly used: number;
  /** WAL kept for the slot that is furthest behind. Units: bytes. */
  readonly retained: number;
}

/** Measurements that an estate reports about itself. Stored in this shape. */
export interface SiteFacts {
  /** Version of the served API. */
  readonly version: string;
  readonly projects: number;
  /** null for another estate: it does not report slots. */
  readonly slots: ReplicationSlots | null;
}

/** Result of a status check. */
export interface ProbeResult {
  readonly isHealthy: boolean;
  /** `Healthy`, or the reason why it is unhealthy. */
  readonly health: string;
  /** null: the site did not report any. */
  readonly measured: SiteFacts | null;
}

/** A namespace that a site synchronizes, with the field names of the API. */
export interface SyncedNamespace {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly kind: string;
  readonly full_path: string;
  readonly parent_id: number | null;
}

/** The last known status of a site. */
export interface SiteStatus {
  /** null: an estate that reports about itself does not know its own id. */
  readonly siteId: number | null;
  readonly isPrimary: boolean;
  readonly selectiveSyncType: string | null;
  readonly namespaces: readonly SyncedNamespace[];
  readonly found: ProbeResult;
  readonly checkedAt: Date;
  /** Time of the last healthy result. */
  readonly healthyAt: Date | null;
}

const HEALTHY = 'Healthy';
export const HEALTH_STATUSES = [HEALTHY, 'Unhealthy'] as const;

export function healthStatusOf({ isHealthy }: Pick<ProbeResult, 'isHealthy'>): (typeof HEALTH_STATUSES)[number] {
  return isHealthy ? HEALTHY : 'Unhealthy';
}

export function healthyResult(measured: SiteFacts): ProbeResult {
  return { isHealthy: true, health: HEALTHY, measured };
}

export function unhealthyResult(health: string): ProbeResult {
  return { isHealthy: false, health, measured: null };
}

/** Sites are checked once a minute, so an older result means that the checks have stopped. Units: milliseconds. */
const OUTDATED_MS = 5 * 60_000;

/** Returns the finding if it is recent, else an unhealthy one: an old healthy result says nothing about now. */
export function downgradeOutdatedProbeResult(found: ProbeResult, checkedAt: Date, now: Date): ProbeResult {
  if (!found.isHealthy || now.getTime() - checkedAt.getTime() <= OUTDATED_MS) return found;
  return { ...found, isHealthy: false, health: `The site was last asked at ${checkedAt.toISOString()}.` };
}

const VERSION = /^[\w.+-]{1,64}$/;
const LONGEST_HEALTH = 255;

/**
 * Parses the status answer of another site and keeps only the known fields. Returns null if the answer is not a valid
 * status.
 */
export function parseGeoStatusAnswer(answer: unknown): ProbeResult | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const fields = answer as Readonly<Record<string, unknown>>;
  const { version, healthy: isHealthy, health, projects_count: projects } = fields;
  if (typeof version !== 'string' || !VERSION.test(version) || typeof isHealthy !== 'boolean') return null;
  if (typeof health !== 'string' || health.length > LONGEST_HEALTH || /\p{Cc}/u.test(health)) return null;
  if (typeof projects !== 'number' || !Number.isSafeInteger(projects) || projects < 0) return null;
  const measured = { version, projects, slots: null };
  return { isHealthy, health: isHealthy ? HEALTHY : health || 'The site reports that it is not healthy.', measured };
}
