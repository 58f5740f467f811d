import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Parent, Tx } from '@rookery/persistence';

type ProjectParent = Extract<Parent, { readonly kind: 'project' }>;

const planningLockKeySql = (id: string): string => `hashtextextended('planning ' || ${id}, 0)`;
/** `$1`: project ids. */
const lockPlaces = prepareStatement(
  'planning_hold',
  `select pg_advisory_xact_lock_shared(k.key) from (select ${planningLockKeySql('id')} as key from unnest($1::bigint[]) id order by 1) k`,
);
/** `$1`: project id; `$2`, `$3`: epoch and version of the directory that the request was authorized at. */
const selectCurrentPlace = prepareStatement(
  'planning_place',
  `select home.traversal_ids from directory_state s
   join directory_projects p on p.id = $1::bigint join directory_namespaces home on home.id = p.namespace_id
   where s.epoch = $2 and s.version >= $3::bigint`,
);
/** `$1`: project ids. Each lock is released before the next is requested. */
const waitForPlaceLocks = prepareStatement(
  'planning_wait',
  `select pg_advisory_lock(k.key), pg_advisory_unlock(k.key)
   from (select ${planningLockKeySql('id')} as key from unnest($1::bigint[]) id order by 1) k`,
);

/**
 * Pins projects to their namespaces until the transaction ends: the effects of a later move wait for it. Promotions call
 * it before they read the places of projects.
 */
export async function delayProjectMoveEffects(tx: Tx, projectIds: readonly number[]): Promise<void> {
  await tx.prepared(lockPlaces, [projectIds]);
}

/**
 * Returns the project with its current place, which may have changed since the request was authorized. Callers read it
 * before noteables of the project get labels and milestones. The effects of a later move wait until the transaction
 * ends.
 * Returns the project unchanged while the directory copy is behind the request. The effects of the move run later in
 * that case.
 */
export async function withCurrentAncestors<P extends ProjectParent>(
  tx: Tx,
  viewer: SignedInViewer,
  project: P,
): Promise<P> {
  await delayProjectMoveEffects(tx, [project.id]);
  const { epoch, version } = viewer.directory;
  const [row] = await tx.prepared<{ traversal_ids: readonly number[] }>(selectCurrentPlace, [
    project.id,
    epoch,
    version,
  ]);
  if (!row) return project;
  return { ...project, namespace: { ...project.namespace, traversalIds: row.traversal_ids.map(Number) } };
}

/** Does the same as `withCurrentAncestors` for a write with labels or a milestone. Other writes cost no statement. */
export async function withCurrentAncestorsForPlanning<P extends ProjectParent>(
  tx: Tx,
  viewer: SignedInViewer,
  project: P,
  { labels, milestoneId }: { readonly labels?: object | undefined; readonly milestoneId?: number | null | undefined },
): Promise<P> {
  return labels || milestoneId ? withCurrentAncestors(tx, viewer, project) : project;
}

/**
 * Waits for transactions that hold these projects at their previous place. Effects of moves call it before they remove
 * labels and milestones that no longer apply. Transactions that begin later read the new place.
 */
export async function waitForTransactionsBeforeProjectMove(tx: Tx, projectIds: readonly number[]): Promise<void> {
  await tx.prepared(waitForPlaceLocks, [projectIds]);
}
