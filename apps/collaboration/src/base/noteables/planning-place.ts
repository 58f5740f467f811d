import type { SignedInViewer } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Parent, Tx } from '@rookery/persistence';

type Project = Extract<Parent, { readonly kind: 'project' }>;

const key = (id: string): string => `hashtextextended('planning ' || ${id}, 0)`;
/** $1 projects. */
const hold = prepared(
  'planning_hold',
  `select pg_advisory_xact_lock_shared(k.key) from (select ${key('id')} as key from unnest($1::bigint[]) id order by 1) k`,
);
/** $1 project, $2-$3 what of the directory the request must have seen. */
const present = prepared(
  'planning_place',
  `select home.traversal_ids from directory_state s
   join directory_projects p on p.id = $1::bigint join directory_namespaces home on home.id = p.namespace_id
   where s.epoch = $2 and s.version >= $3::bigint`,
);
/** $1 projects. Nothing is held while it waits for the next. */
const wait = prepared(
  'planning_wait',
  `select pg_advisory_lock(k.key), pg_advisory_unlock(k.key)
   from (select ${key('id')} as key from unnest($1::bigint[]) id order by 1) k`,
);

/**
 * For promotions, which plan for projects by where they are: where statements after this find them, they are until the
 * effects of their next move, which wait until the transaction ends.
 */
export async function holdPlaces(tx: Tx, projectIds: readonly number[]): Promise<void> {
  await tx.prepared(hold, [projectIds]);
}

/**
 * Where a project is now, before its things get labels and milestones: it may have moved since the request was decided.
 * Until the transaction ends, the effects of a move wait for it. Shape: as the request has it while the copy of the
 * directory is behind the request; then the effects are still to come.
 */
export async function placeOf<P extends Project>(tx: Tx, viewer: SignedInViewer, project: P): Promise<P> {
  await holdPlaces(tx, [project.id]);
  const { epoch, version } = viewer.directory;
  const [row] = await tx.prepared<{ traversal_ids: readonly number[] }>(present, [project.id, epoch, version]);
  if (!row) return project;
  return { ...project, namespace: { ...project.namespace, traversalIds: row.traversal_ids.map(Number) } };
}

/**
 * For effects of moves, before they look for what reaches these projects no more: resolves once all is committed that
 * was planned by where they had been. Whoever plans later finds where they are now.
 */
export async function plannedBefore(tx: Tx, projectIds: readonly number[]): Promise<void> {
  await tx.prepared(wait, [projectIds]);
}
