import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import { statement } from '@rookery/persistence';
import type { Parent, Tx } from '@rookery/persistence';
import { checkImportObjects } from '../../base/imported-objects/imported-objects';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { Label } from './label.entity';
import { findReachableLabels } from './labelling/labelling';

type ProjectParent = Extract<Parent, { readonly kind: 'project' }>;

/** The labels of an imported noteable by name. */
export interface LabelNames {
  readonly id: number;
  readonly labels: readonly string[];
}

/** A label that was added to or removed from an imported noteable. */
export interface ImportedLabelEvent {
  readonly noteable_id: number;
  readonly user_id: number;
  readonly label_id: number;
  readonly action: 'add' | 'remove';
  readonly created_at: string;
}

interface LabelParams {
  readonly project: number;
  readonly titles: readonly string[];
  readonly descriptions: readonly (string | null)[];
  readonly htmls: readonly string[];
  readonly colors: readonly string[];
  readonly text_colors: readonly string[];
}
const ADD = statement<LabelParams, never>(
  'labels_import',
  `insert into labels (project_id, title, description, description_html, color, text_color)
   select :project::bigint, l.* from unnest(:titles::text[], :descriptions::text[], :htmls::text[], :colors::text[],
     :text_colors::text[]) as l (title, description, html, color, text_color)
   order by l.title on conflict do nothing`,
);
const LINK = statement<{ project: number; type: string; ids: readonly number[]; labels: readonly number[] }, never>(
  'labels_link_imported',
  `insert into label_links (noteable_type, noteable_id, label_id, project_id)
   select :type, n.id, l.id, :project::bigint
   from unnest(:ids::bigint[], :labels::bigint[]) as n (id, label_id)
     join (select id from labels where id = any(:labels::bigint[]) order by id for key share) l on l.id = n.label_id
   on conflict do nothing`,
);
const ADD_EVENTS = statement<{ type: string; project: number; rows: string }, never>(
  'resource_label_events_import',
  `insert into resource_label_events (noteable_type, noteable_id, project_id, user_id, label_id, action, created_at)
   select :type, e.noteable_id, :project::bigint, e.user_id, e.label_id, e.action, e.created_at
   from jsonb_to_recordset(:rows::jsonb) as e (noteable_id bigint, user_id bigint, label_id bigint, action text,
     created_at timestamptz)`,
);

/**
 * Adds labels of an imported project. A label of the project, or of a group above, with the same name stays as it is.
 * Returns the labels that break a rule.
 */
export async function importLabels(
  tx: Tx,
  project: ProjectParent,
  objects: readonly ImportedObject<'label'>[],
): Promise<readonly UnimportedObject[]> {
  const now = new Date();
  const { valid, failed } = checkImportObjects(objects, (label) => Label.create(label, now));
  const labels = valid.map(({ object }) => object);
  const reachable = await findReachableLabels(
    tx,
    project,
    labels.map(({ title }) => title),
  );
  const known = new Set(reachable.map(({ title }) => title));
  const added = labels.filter(({ title }) => !known.has(title));
  await tx.run(ADD, {
    project: project.id,
    titles: added.map(({ title }) => title),
    descriptions: added.map(({ description }) => description),
    htmls: added.map(({ descriptionHtml }) => descriptionHtml),
    colors: added.map(({ color }) => color),
    text_colors: added.map(({ textColor }) => textColor),
  });
  return failed;
}

/**
 * Gives imported noteables their labels, without events. Unknown names are left out.
 */
export async function linkImportedLabels(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  project: ProjectParent,
  noteables: readonly LabelNames[],
): Promise<void> {
  const names = noteables.flatMap(({ labels }) => labels);
  const ids = await findLabelIds(tx, project, names);
  const links = noteables.flatMap(({ id, labels }) =>
    labels.flatMap((name) => (ids.has(name) ? [{ id, label: ids.get(name)! }] : [])),
  );
  if (links.length === 0) return;
  await tx.run(LINK, {
    ...{ project: project.id, type },
    ids: links.map(({ id }) => id),
    labels: links.map(({ label }) => label),
  });
}

/** Returns the ids of labels that an imported project can use, by their names. */
export async function findLabelIds(
  tx: Tx,
  project: ProjectParent,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const labels = await findReachableLabels(tx, project, [...new Set(names)]);
  return new Map(labels.map(({ id, title }) => [title, id]));
}

/** Adds events of labels to imported noteables. Their labels stay as they are. */
export async function addImportedLabelEvents(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  { id: project }: ProjectParent,
  labellings: readonly ImportedLabelEvent[],
): Promise<void> {
  if (labellings.length > 0) await tx.run(ADD_EVENTS, { type, project, rows: JSON.stringify(labellings) });
}
