import type { Collection, Tx } from '@rookery/persistence';
import { prepareStatement } from '@rookery/persistence';
import { cachePerNoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { Milestone } from '../milestone.entity';
import { reserveMilestoneTitles } from '../milestones.service';

/** Joins: the milestones in `used` whose group is no longer above the project. */
const STRAY = `join milestones m on m.id = used.milestone_id and m.group_id is not null
     join directory_projects p on p.id = used.project_id
     join directory_namespaces home on home.id = p.namespace_id and not m.group_id = any(home.traversal_ids)`;
/** Join: the replacement of each milestone, the project's own of that title, or else that of the nearest group. */
const REPLACEMENT = `lateral (
       select heir.id from milestones heir where heir.title = m.title
         and (heir.project_id = used.project_id or heir.group_id = any(home.traversal_ids))
       order by heir.project_id, array_position(home.traversal_ids, heir.group_id) desc limit 1) near`;

/**
 * $1 projects. Selects used milestones of groups that are no longer above the project, with their replacement, or null
 * if there is none.
 */
const selectStrayMilestones = cachePerNoteableKind(({ table }) =>
  prepareStatement(
    `milestones_strays_of_${table}`,
    `select used.project_id, m.id, m.title, home.traversal_ids[1] as root, near.id as heir_id
     from (select distinct i.project_id, i.milestone_id from ${table} i
       where i.project_id = any($1::bigint[]) and i.milestone_id is not null) used
     ${STRAY} left join ${REPLACEMENT} on true
     order by used.project_id, m.id`,
  ),
);
/** $1 milestone, $2 project that gets the copy, $3 its number there. */
const insertCopy = prepareStatement(
  'milestones_copy',
  `insert into milestones (project_id, iid, title, description, state, start_on, due_on)
   select $2::bigint, $3::bigint, title, description, state, start_on, due_on from milestones where id = $1::bigint
   returning id`,
);
/** $1 project, $2 milestone, $3 its replacement. */
const replaceStrayMilestone = cachePerNoteableKind(({ table, writes }) =>
  prepareStatement(
    `milestones_replace_stray_of_${table}`,
    `${writes.update} milestone_id = $3::bigint where i.project_id = $1::bigint and i.milestone_id = $2::bigint`,
  ),
);
/** $1 projects. Also updates events of milestones that no noteable has now, if there is a replacement. */
const replaceEvents = prepareStatement(
  'milestones_replace_stray_events',
  `update resource_milestone_events e set milestone_id = near.id
   from (select distinct told.project_id, told.milestone_id from resource_milestone_events told
     where told.project_id = any($1::bigint[])) used
   ${STRAY} cross join ${REPLACEMENT}
   where e.project_id = used.project_id and e.milestone_id = used.milestone_id`,
);

interface StrayMilestone {
  readonly project_id: number;
  readonly id: number;
  readonly title: string;
  readonly root: number;
  readonly heir_id: number | null;
}

/**
 * Replaces milestones whose group is no longer above the project, so that noteables keep a milestone of the same title. Copies
 * it to the project if no reachable milestone has the title. Source: reference work-tracking 9.5.
 */
export async function replaceUnreachableMilestones(
  tx: Tx,
  kind: NoteableKind,
  own: Collection<Milestone>,
  projectIds: readonly number[],
): Promise<void> {
  const find = (): Promise<StrayMilestone[]> => tx.prepared<StrayMilestone>(selectStrayMilestones(kind), [projectIds]);
  await reserveMilestoneTitles(tx, await find());
  const copied = new Map<string, number>();
  // Selected again, because replacements may have been created before the titles were reserved.
  for (const stray of await find()) {
    const key = `${stray.project_id} ${stray.title}`;
    const replacement = stray.heir_id ?? copied.get(key) ?? (await copyMilestoneToProject(tx, own, stray));
    copied.set(key, replacement);
    const values = [stray.project_id, stray.id, replacement];
    await tx.prepared(replaceStrayMilestone(kind), values);
  }
  await tx.prepared(replaceEvents, [projectIds]);
}

async function copyMilestoneToProject(
  tx: Tx,
  milestones: Collection<Milestone>,
  { id, project_id }: StrayMilestone,
): Promise<number> {
  const within = { kind: 'project', id: project_id, namespace: { traversalIds: [] } } as const;
  const [made] = await tx.prepared<{ id: number }>(insertCopy, [
    id,
    project_id,
    await milestones.nextNumber(tx, within),
  ]);
  return made!.id;
}
