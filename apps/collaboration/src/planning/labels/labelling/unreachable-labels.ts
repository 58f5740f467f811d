import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { waitForTransactionsBeforeProjectMove } from '../../../base/noteables/planning-place';

/** Tables that use labels; a missing replacement label is created for them. */
const USES = ['label_links', 'label_priorities'];
/** Tables that refer to labels. Events alone are no reason to create a label. */
const REFERENCES = [...USES, 'resource_label_events'];
const usedLabelsSql = (table: string): string =>
  `select project_id, label_id from ${table} where project_id = any($1::bigint[])`;
/** $1 projects. Common table expression: labels that a project uses and whose group is no longer above it. */
const strayLabelsCteSql = (tables: readonly string[]): string => `stray as (
    select distinct used.project_id, l.id, l.title, home.traversal_ids
    from (${tables.map(usedLabelsSql).join(' union ')}) used
    join labels l on l.id = used.label_id and l.group_id is not null
    join directory_projects p on p.id = used.project_id join directory_namespaces home on home.id = p.namespace_id
    where not l.group_id = any(home.traversal_ids)
  )`;
/**
 * Common table expression: each stray label with its replacement of the same name, the project's own or that of the
 * nearest group.
 */
const REPLACEMENT = `heir as (
    select stray.project_id, stray.id, near.id as heir_id from stray cross join lateral (
      select l.id from labels l where l.title = stray.title
        and (l.project_id = stray.project_id or l.group_id = any(stray.traversal_ids))
      order by l.project_id, array_position(stray.traversal_ids, l.group_id) desc limit 1) near
  )`;

const insertMissingLabels = prepareStatement(
  'labels_make_strays',
  `with ${strayLabelsCteSql(USES)}
   insert into labels (project_id, title, description, description_html, color, text_color, archived)
   select stray.project_id, l.title, l.description, l.description_html, l.color, l.text_color, l.archived
   from stray join labels l on l.id = stray.id
   where not exists (select 1 from labels near where near.title = stray.title
     and (near.project_id = stray.project_id or near.group_id = any(stray.traversal_ids)))
   order by stray.project_id, l.title
   on conflict do nothing`,
);
const replaceStrays = prepareStatement(
  'labels_replace_strays',
  `with ${strayLabelsCteSql(REFERENCES)}, ${REPLACEMENT}, linked as (
     insert into label_links (noteable_type, noteable_id, label_id, project_id)
     select ll.noteable_type, ll.noteable_id, heir.heir_id, ll.project_id
     from heir join label_links ll on ll.project_id = heir.project_id and ll.label_id = heir.id
     on conflict do nothing
   ), unlinked as (
     delete from label_links ll using heir where ll.project_id = heir.project_id and ll.label_id = heir.id
   ), counting as (
     insert into label_priorities (project_id, label_id, priority)
     select p.project_id, heir.heir_id, p.priority
     from heir join label_priorities p on p.project_id = heir.project_id and p.label_id = heir.id
     on conflict do nothing
   ), uncounted as (
     delete from label_priorities p using heir where p.project_id = heir.project_id and p.label_id = heir.id
   )
   update resource_label_events e set label_id = heir.heir_id from heir
   where e.project_id = heir.project_id and e.label_id = heir.id`,
);
/**
 * Replaces labels whose group is no longer above the project, so that noteables keep labels of the same name. Creates a label
 * in the project if no reachable label has the name. Source: reference work-tracking 9.4.
 */
export async function replaceUnreachableLabels(tx: Tx, projectIds: readonly number[]): Promise<void> {
  await waitForTransactionsBeforeProjectMove(tx, projectIds);
  await tx.prepared(insertMissingLabels, [projectIds]);
  await tx.prepared(replaceStrays, [projectIds]);
}
