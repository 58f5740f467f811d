import type { NoteableType } from '@rookery/contracts';
import { Invalid } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Parent, Tx } from '@rookery/persistence';

/** $1 milestone, $2 project or null, $3 groups from the root down. Locks the milestone against deletion. */
const selectForShare = prepareStatement(
  'milestones_choose',
  `select m.id from milestones m
   where m.id = $1::bigint and (m.project_id = $2::bigint or m.group_id = any($3::bigint[])) for key share of m`,
);
/**
 * $1 milestone, $2 project, $3 groups from the root down. Selects the nearest milestone of the same title and locks it
 * against deletion.
 */
const selectSameTitleForShare = prepareStatement(
  'milestones_choose_namesake',
  `select m.id from milestones m
   where m.title = (select o.title from milestones o where o.id = $1::bigint)
     and (m.project_id = $2::bigint or m.group_id = any($3::bigint[]))
   order by m.project_id, array_position($3::bigint[], m.group_id) desc limit 1 for key share of m`,
);
/** $1 titles, $2 project or null, $3 groups from the root down. Selects the nearest milestone of each title. */
const selectByTitles = prepareStatement(
  'milestones_titled',
  `select distinct on (m.title) m.id, m.title from milestones m
   where m.title = any($1::text[]) and (m.project_id = $2::bigint or m.group_id = any($3::bigint[]))
   order by m.title, m.project_id, array_position($3::bigint[], m.group_id) desc`,
);
const insertEvent = prepareStatement(
  'milestones_tell',
  `insert into resource_milestone_events
     (noteable_type, noteable_id, project_id, user_id, milestone_id, action, created_at)
   values ($1, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6, $7::timestamptz)`,
);

/** Requested milestone of a noteable. An `id` of null removes the milestone. Undefined does not change it. */
export type MilestoneChoice = { readonly id: number | null; readonly isReached: boolean } | undefined;

/**
 * Finds a milestone of the project or group, or of a group above, and locks it against deletion. Must be called before the
 * noteable is locked, because the deletion of a milestone locks it before its noteables. Source: reference work-tracking 9.1.
 */
export async function lockMilestone(
  tx: Tx,
  parent: Parent,
  milestoneId: number | null | undefined,
): Promise<MilestoneChoice> {
  if (milestoneId === undefined) return undefined;
  if (milestoneId === null) return { id: null, isReached: true };
  const [projectId, above] =
    parent.kind === 'project' ? [parent.id, parent.namespace.traversalIds] : [null, parent.traversalIds];
  const found = await tx.prepared(selectForShare, [milestoneId, projectId, above]);
  return { id: milestoneId, isReached: found.length > 0 };
}

/**
 * Returns the milestone of another project with the same title and locks it; null if there is none. Call it at the same
 * point as `lockMilestone`.
 */
export async function lockSameTitledMilestone(
  tx: Tx,
  milestoneId: number | null,
  target: Extract<Parent, { readonly kind: 'project' }>,
): Promise<number | null> {
  if (milestoneId === null) return null;
  const [row] = await tx.prepared<{ id: number }>(selectSameTitleForShare, [
    milestoneId,
    target.id,
    target.namespace.traversalIds,
  ]);
  return row?.id ?? null;
}

/** Finds the milestones of the project or group, or of a group above, with these titles. Returns their ids by title. */
export async function findMilestonesByTitle(
  tx: Tx,
  parent: Parent,
  titles: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (titles.length === 0) return new Map();
  const [projectId, above] =
    parent.kind === 'project' ? [parent.id, parent.namespace.traversalIds] : [null, parent.traversalIds];
  const rows = await tx.prepared<{ id: number; title: string }>(selectByTitles, [titles, projectId, above]);
  return new Map(rows.map(({ id, title }) => [title, id]));
}

/**
 * Returns the id of a requested milestone, null to remove it, or undefined to keep it. Errors: Invalid if the project
 * or group cannot use it.
 */
export function checkMilestoneId(choice: MilestoneChoice): number | null | undefined {
  if (choice && !choice.isReached) throw new Invalid({ milestone_id: ['is invalid'] });
  return choice?.id;
}

/**
 * Records the event that a noteable got another milestone, or lost the one that it had. Source: reference work-tracking
 * 2.8.
 */
export async function recordMilestoneEvent(
  tx: Tx,
  noteable: { readonly type: NoteableType; readonly id: number; readonly projectId: number | null },
  change: { readonly from: number | null; readonly to: number | null },
  by: { readonly actorId: number; readonly at: Date },
): Promise<void> {
  const milestoneId = change.to ?? change.from;
  if (change.from === change.to || milestoneId === null) return;
  const action = change.to === null ? 'remove' : 'add';
  await tx.prepared(insertEvent, [
    noteable.type,
    noteable.id,
    noteable.projectId,
    by.actorId,
    milestoneId,
    action,
    by.at,
  ]);
}
