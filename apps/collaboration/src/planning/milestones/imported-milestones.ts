import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import { raiseInternalId, statement } from '@rookery/persistence';
import type { Parent, Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  checkImportObjects,
  omitAlreadyImportedObjects,
} from '../../base/imported-objects/imported-objects';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { Milestone } from './milestone.entity';
import { reserveMilestoneTitles } from './milestones.service';

type ProjectParent = Extract<Parent, { readonly kind: 'project' }>;

/** A milestone that was set on or removed from an imported noteable. */
export interface ImportedMilestoneEvent {
  readonly noteable_id: number;
  readonly user_id: number;
  readonly milestone_id: number;
  readonly action: 'add' | 'remove';
  readonly created_at: string;
}

const USED = { index: 0, message: 'Its number or its title is used by another milestone.' };

interface MilestoneParams {
  readonly project: number;
  readonly above: readonly number[];
  readonly rows: string;
}
const ADD = statement<MilestoneParams, { id: number; iid: number }>(
  'milestones_import',
  `insert into milestones (project_id, iid, title, description, state, due_on, created_at, updated_at)
   select :project::bigint, m.iid, m.title, m.description, m.state, m.due_on, m.created_at, m.updated_at
   from jsonb_to_recordset(:rows::jsonb) as m (iid bigint, title text, description text, state text, due_on date,
     created_at timestamptz, updated_at timestamptz)
   where not exists (select 1 from milestones g where g.group_id = any(:above::bigint[]) and g.title = m.title)
   order by m.iid on conflict do nothing returning id, iid`,
);
const BY_TITLES = statement<
  { project: number; above: readonly number[]; titles: readonly string[] },
  { id: number; title: string }
>(
  'milestones_by_titles',
  `select m.id, m.title from milestones m
   where (m.project_id = :project::bigint or m.group_id = any(:above::bigint[])) and m.title = any(:titles::text[])
   order by m.id`,
);
const ADD_EVENTS = statement<{ type: string; project: number; rows: string }, never>(
  'resource_milestone_events_import',
  `insert into resource_milestone_events
     (noteable_type, noteable_id, project_id, user_id, milestone_id, action, created_at)
   select :type, e.noteable_id, :project::bigint, e.user_id, e.milestone_id, e.action, e.created_at
   from jsonb_to_recordset(:rows::jsonb) as e (noteable_id bigint, user_id bigint, milestone_id bigint, action text,
     created_at timestamptz)`,
);

/**
 * Adds milestones of an imported project with their upstream numbers, states and times. Returns those that break a rule, or
 * whose number or title is in use.
 */
export async function importMilestones(
  tx: Tx,
  project: ProjectParent,
  objects: readonly ImportedObject<'milestone'>[],
): Promise<readonly UnimportedObject[]> {
  const of = { project: project.id, kind: 'milestone' } as const;
  const { valid, failed } = checkImportObjects(objects, toMilestone);
  const found = await omitAlreadyImportedObjects(tx, of, valid, ({ iid }) => iid);
  const rows = found.map(({ object }) => object);
  const [root] = project.namespace.traversalIds;
  await reserveMilestoneTitles(
    tx,
    rows.map(({ title }) => ({ root: root!, title })),
  );
  const added = await tx.run(ADD, {
    project: project.id,
    above: project.namespace.traversalIds,
    rows: JSON.stringify(rows.map(toMilestoneColumns)),
  });
  await addImportedObjects(
    tx,
    of,
    added.map(({ id, iid }) => ({ upstreamId: iid, id })),
  );
  if (added.length > 0)
    await raiseInternalId(tx, 'project_milestones', project.id, Math.max(...added.map((m) => m.iid)));
  const iids = new Set(added.map(({ iid }) => iid));
  const refused = found.filter(({ object }) => !iids.has(object.iid)).map(({ index }) => ({ ...USED, index }));
  return [...failed, ...refused];
}

function toMilestone(imported: ImportedObject<'milestone'>): Milestone {
  const { number: iid, title, description, due_on: due_date, state } = imported;
  const state_event = state === 'closed' ? 'close' : 'activate';
  const milestone = Milestone.create({ title, description, due_date, state_event }, new Date(imported.created_at));
  return Object.assign(milestone, { iid, updatedAt: new Date(imported.updated_at) });
}

function toMilestoneColumns({ iid, title, description, state, dueOn, createdAt, updatedAt }: Milestone) {
  return { iid, title, description, state, due_on: dueOn, created_at: createdAt, updated_at: updatedAt };
}

/** Returns the ids of milestones that an imported project can use, by their titles. */
export async function findMilestoneIds(
  tx: Tx,
  { id: project, namespace }: ProjectParent,
  titles: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.run(BY_TITLES, { project, above: namespace.traversalIds, titles: [...new Set(titles)] });
  return new Map(rows.map(({ id, title }) => [title, id]));
}

/** Adds events of milestones to imported noteables. Their milestones stay as they are. */
export async function addImportedMilestoneEvents(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  { id: project }: ProjectParent,
  changes: readonly ImportedMilestoneEvent[],
): Promise<void> {
  if (changes.length > 0) await tx.run(ADD_EVENTS, { type, project, rows: JSON.stringify(changes) });
}
