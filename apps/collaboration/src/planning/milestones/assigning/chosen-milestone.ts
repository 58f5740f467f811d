import type { NoteableType } from '@rookery/contracts';
import { Invalid } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Parent, Tx } from '@rookery/persistence';

/** $1 milestone, $2 project or null, $3 groups from the root down. It stays until the transaction ends. */
const choose = prepared(
  'milestones_choose',
  `select m.id from milestones m
   where m.id = $1::bigint and (m.project_id = $2::bigint or m.group_id = any($3::bigint[])) for key share of m`,
);
/** $1 milestone, $2 project, $3 groups from the root down: the nearest of one title. It stays until the transaction ends. */
const chooseNamesake = prepared(
  'milestones_choose_namesake',
  `select m.id from milestones m
   where m.title = (select o.title from milestones o where o.id = $1::bigint)
     and (m.project_id = $2::bigint or m.group_id = any($3::bigint[]))
   order by m.project_id, array_position($3::bigint[], m.group_id) desc limit 1 for key share of m`,
);
/** $1 titles, $2 project or null, $3 groups from the root down: of milestones of one title the nearest. */
const titled = prepared(
  'milestones_titled',
  `select distinct on (m.title) m.id, m.title from milestones m
   where m.title = any($1::text[]) and (m.project_id = $2::bigint or m.group_id = any($3::bigint[]))
   order by m.title, m.project_id, array_position($3::bigint[], m.group_id) desc`,
);
const tell = prepared(
  'milestones_tell',
  `insert into resource_milestone_events
     (noteable_type, noteable_id, project_id, user_id, milestone_id, action, created_at)
   values ($1, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6, $7::timestamptz)`,
);

/** The milestone that a thing is to have. Shape: null for none; undefined leaves it as it is. */
export type MilestoneChoice = { readonly id: number | null; readonly isReached: boolean } | undefined;

/**
 * Looks for a milestone of the place or of a group above it and holds it. To be called before the thing is locked: whoever
 * removes a milestone locks it before its things. Source: reference work-tracking 9.1.
 */
export async function chosenMilestone(
  tx: Tx,
  parent: Parent,
  wished: number | null | undefined,
): Promise<MilestoneChoice> {
  if (wished === undefined) return undefined;
  if (wished === null) return { id: null, isReached: true };
  const [projectId, above] =
    parent.kind === 'project' ? [parent.id, parent.namespace.traversalIds] : [null, parent.traversalIds];
  const found = await tx.prepared(choose, [wished, projectId, above]);
  return { id: wished, isReached: found.length > 0 };
}

/** The milestone of another project that is called as this one; null when there is none. Called when `chosenMilestone` is. */
export async function namesakeOf(
  tx: Tx,
  milestoneId: number | null,
  there: Extract<Parent, { readonly kind: 'project' }>,
): Promise<number | null> {
  if (milestoneId === null) return null;
  const [row] = await tx.prepared<{ id: number }>(chooseNamesake, [
    milestoneId,
    there.id,
    there.namespace.traversalIds,
  ]);
  return row?.id ?? null;
}

/** The milestones that the place or a group above it knows by these titles. Shape: ids by title. */
export async function milestonesTitled(
  tx: Tx,
  parent: Parent,
  titles: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (titles.length === 0) return new Map();
  const [projectId, above] =
    parent.kind === 'project' ? [parent.id, parent.namespace.traversalIds] : [null, parent.traversalIds];
  const rows = await tx.prepared<{ id: number; title: string }>(titled, [titles, projectId, above]);
  return new Map(rows.map(({ id, title }) => [title, id]));
}

/** Shape: undefined leaves the milestone as it is. Errors: Invalid for one that the thing cannot have. */
export function reachedMilestone(choice: MilestoneChoice): number | null | undefined {
  if (choice && !choice.isReached) throw new Invalid({ milestone_id: ['is invalid'] });
  return choice?.id;
}

/** Keeps that a thing got another milestone, or lost the one that it had. Source: reference work-tracking 2.8. */
export async function tellMilestone(
  tx: Tx,
  thing: { readonly type: NoteableType; readonly id: number; readonly projectId: number | null },
  change: { readonly from: number | null; readonly to: number | null },
  by: { readonly actorId: number; readonly at: Date },
): Promise<void> {
  const told = change.to ?? change.from;
  if (change.from === change.to || told === null) return;
  const action = change.to === null ? 'remove' : 'add';
  await tx.prepared(tell, [thing.type, thing.id, thing.projectId, by.actorId, told, action, by.at]);
}
