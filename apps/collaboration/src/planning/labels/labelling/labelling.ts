import type { NamespaceFacts } from '@rookery/api-v4';
import { Invalid } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Parent, RowOf, Tx } from '@rookery/persistence';
import { cachePerNoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { planningPolicy } from '../../../base/noteables/planning.policy';
import { DEFAULT_COLOUR, textColourOn } from '../colours/colours';
import { findLabelTitleProblems } from '../label.entity';
import type { Label } from '../label.entity';

/** Requested labels of a noteable: `all` replaces them, `add` and `remove` change them. Names are as sent. */
export interface RequestedLabels {
  readonly all?: readonly string[] | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** Type name and table of a kind of noteables that have labels. */
type LabelledKind = Pick<NoteableKind, 'type' | 'table'>;

type Plan = Pick<NamespaceFacts, 'plan'>;
/** Project or group whose labels are set, with its plan. */
type LabelParent =
  | (Extract<Parent, { readonly kind: 'project' }> & { readonly namespace: Plan })
  | (Extract<Parent, { readonly kind: 'group' }> & Plan);

/** Noteable whose labels change; its row is locked. */
export interface LabelledNoteable {
  readonly kind: LabelledKind;
  readonly id: number;
  /** Null for noteables of groups. */
  readonly projectId: number | null;
}

/** Requested labels as ids. */
export interface ResolvedLabels {
  readonly added: readonly number[];
  readonly removed: readonly number[];
  /** Whether all other labels are removed too. */
  readonly replacesAll: boolean;
  /** Whether an added label removes others with its scope. */
  readonly areScopesExclusive: boolean;
}

/** Ids of labels that a change added and removed. */
export interface LabelChange {
  readonly added: readonly number[];
  readonly removed: readonly number[];
}
/** Matches a scope: the part before the last `::`. */
const SCOPE = /^(.+)::./;
const NO_LABEL_CHANGE: LabelChange = { added: [], removed: [] };

/** Maximum number of labels per noteable, so that lists stay short. Source: reference work-tracking 9.1. */
const LABELS_PER_NOTEABLE = 500;

/** $1 names, $2 project or null, $3 groups from the root down. Selects the nearest label of each name. */
const findByNames = prepareStatement(
  'labels_named',
  `select distinct on (l.title) l.id, l.title from labels l
   where l.title = any($1::text[]) and (l.project_id = $2::bigint or l.group_id = any($3::bigint[]))
   order by l.title, l.project_id, array_position($3::bigint[], l.group_id) desc`,
);
/** $1 names, $2 project, $3 group. Inserts in one order, so that concurrent requests do not deadlock. */
const insertLabels = prepareStatement(
  'labels_make',
  `insert into labels (title, project_id, group_id, description_html, color, text_color)
   select title, $2::bigint, $3::bigint, '', '${DEFAULT_COLOUR}', '${textColourOn(DEFAULT_COLOUR)}'
   from unnest($1::text[]) title order by title
   on conflict do nothing`,
);
/** SQL for the scope of a title: the part before the last `::`; null without one. */
const labelScopeSql = (title: string): string => `substring(${title} from '^(.+)::.')`;
/**
 * $1 noteable, $2 its project or null, $3 added labels, $4 removed labels, $5 whether all others are removed too, $6
 * actor, $7 time, $8 whether others with the scope of an added label are removed too.
 */
const updateLabelLinks = cachePerNoteableKind(({ table, type }: LabelledKind) =>
  prepareStatement(
    `${table}_relabel`,
    `with fresh as (
       insert into label_links (noteable_type, noteable_id, label_id, project_id)
       select '${type}', $1::bigint, l.id, $2::bigint
       from (select id from labels where id = any($3::bigint[]) order by id for key share) l
       on conflict do nothing returning label_id
     ), gone as (
       delete from label_links where noteable_id = $1::bigint and noteable_type = '${type}'
         and (label_id = any($4::bigint[]) or label_id <> all($3::bigint[]) and ($5::boolean or $8::boolean
           and label_id in (select o.id from labels n join labels o on ${labelScopeSql('o.title')} = ${labelScopeSql('n.title')}
             where n.id = any($3::bigint[]) and o.id in (select k.label_id from label_links k
               where k.noteable_id = $1::bigint and k.noteable_type = '${type}'))))
       returning label_id
     ), changed as (
       select label_id, 'add' as action from fresh union all select label_id, 'remove' from gone
     ), told as (
       insert into resource_label_events (noteable_type, noteable_id, project_id, user_id, label_id, action, created_at)
       select '${type}', $1::bigint, $2::bigint, $6::bigint, label_id, action, $7::timestamptz
       from changed order by action, label_id
     )
     select label_id, action from changed order by label_id`,
  ),
);
/**
 * $1 kind, $2 noteable, $3 project, $4 groups from the root down. Selects the nearest label for the name of each label
 * of the noteable.
 */
const sameTitles = prepareStatement(
  'labels_namesakes_of_thing',
  `select distinct on (l.title) l.id, l.title from labels l
   where l.title in (select o.title from label_links k join labels o on o.id = k.label_id
       where k.noteable_id = $2::bigint and k.noteable_type = $1)
     and (l.project_id = $3::bigint or l.group_id = any($4::bigint[]))
   order by l.title, l.project_id, array_position($4::bigint[], l.group_id) desc`,
);
const countLabels = prepareStatement(
  'labels_of_thing',
  'select count(*)::integer as count from label_links where noteable_id = $1::bigint and noteable_type = $2',
);

/**
 * Resolves requested labels to ids. Creates labels in the project or group for names that neither it nor a group above has: a
 * user who may set labels may create them. Takes no lock that blocks a request without new names.
 * Errors: Invalid for an invalid name, and for too many labels. Source: reference work-tracking 9.1.
 */
export async function resolveOrCreateLabels(
  tx: Tx,
  parent: LabelParent,
  requested: RequestedLabels | undefined,
): Promise<ResolvedLabels | null> {
  if (!requested) return null;
  const removed = new Set(requested.remove);
  const areScopesExclusive = hasScopedLabelsFeature(parent);
  const wanted = [...new Set([...(requested.all ?? []), ...(requested.add ?? [])])].filter(
    (name) => !removed.has(name),
  );
  const added = areScopesExclusive ? keepLastLabelOfEachScope(wanted) : wanted;
  if (added.length > LABELS_PER_NOTEABLE) throw createTooManyLabelsError();
  return {
    areScopesExclusive,
    added: await findOrCreateLabelIds(tx, parent, added, { createsMissing: true }),
    removed: await findOrCreateLabelIds(tx, parent, [...removed], { createsMissing: false }),
    replacesAll: requested.all !== undefined,
  };
}

/**
 * Returns the labels of another project with the same names as the labels of a noteable. Creates none. Source: reference
 * work-tracking 9.1.
 */
export async function findSameNamedLabels(
  tx: Tx,
  noteable: Pick<LabelledNoteable, 'kind' | 'id'>,
  target: Extract<LabelParent, { readonly kind: 'project' }>,
): Promise<ResolvedLabels> {
  const values = [noteable.kind.type, noteable.id, target.id, target.namespace.traversalIds];
  const rows = await tx.prepared<{ id: number; title: string }>(sameTitles, values);
  const areScopesExclusive = hasScopedLabelsFeature(target);
  const kept = new Set(areScopesExclusive ? keepLastLabelOfEachScope(rows.map(({ title }) => title)) : []);
  const added = rows.filter(({ title }) => !areScopesExclusive || kept.has(title)).map(({ id }) => id);
  return { added, removed: [], replacesAll: true, areScopesExclusive };
}

/** Returns the labels of the project or group, or of a group above, with these names; the nearest of each name. */
export async function findReachableLabels(
  tx: Tx,
  parent: Parent,
  names: readonly string[],
): Promise<RowOf<Label, 'id' | 'title'>[]> {
  if (names.length === 0) return [];
  const [projectId, above] =
    parent.kind === 'project' ? [parent.id, parent.namespace.traversalIds] : [null, parent.traversalIds];
  return tx.prepared(findByNames, [names, projectId, above]);
}

/**
 * Sets the labels of a noteable and returns the change. Errors: Invalid for too many labels. Source: reference
 * work-tracking 2.8.
 */
export async function setLabels(
  tx: Tx,
  noteable: LabelledNoteable,
  labels: ResolvedLabels | null,
  by: { readonly actorId: number; readonly at: Date },
): Promise<LabelChange> {
  if (!labels) return NO_LABEL_CHANGE;
  const { added, removed, replacesAll, areScopesExclusive } = labels;
  const links = [noteable.id, noteable.projectId, added, removed, replacesAll];
  const values = [...links, by.actorId, by.at, areScopesExclusive];
  const changed = await tx.prepared<{ label_id: number; action: 'add' | 'remove' }>(
    updateLabelLinks(noteable.kind),
    values,
  );
  const idsOf = (action: 'add' | 'remove'): number[] =>
    changed.filter((one) => one.action === action).map((one) => one.label_id);
  if (!replacesAll && idsOf('add').length > 0) await assertNotTooManyLabels(tx, noteable);
  return { added: idsOf('add'), removed: idsOf('remove') };
}

/** Whether labels `scope::value` exclude others with their scope here. Source: reference work-tracking 9.4. */
function hasScopedLabelsFeature(parent: LabelParent): boolean {
  return planningPolicy.isPaid(parent.kind === 'project' ? parent.namespace : parent);
}

/** Returns the names without those that a later name with the same scope replaces. */
function keepLastLabelOfEachScope(names: readonly string[]): string[] {
  const scopes = names.map((name) => SCOPE.exec(name)?.[1]);
  return names.filter((_, index) => scopes[index] === undefined || scopes.lastIndexOf(scopes[index]) === index);
}

async function findOrCreateLabelIds(
  tx: Tx,
  parent: Parent,
  names: readonly string[],
  { createsMissing }: { readonly createsMissing: boolean },
): Promise<number[]> {
  if (names.length === 0) return [];
  const [projectId, groupId] = parent.kind === 'project' ? [parent.id, null] : [null, parent.id];
  const find = (): Promise<RowOf<Label, 'id' | 'title'>[]> => findReachableLabels(tx, parent, names);
  const found = await find();
  const known = new Set(found.map((label) => label.title));
  const missing = names.filter((name) => !known.has(name));
  if (!createsMissing || missing.length === 0) return found.map((label) => label.id);
  const problems = missing.flatMap(findLabelTitleProblems);
  if (problems.length > 0) throw new Invalid({ labels: [...new Set(problems)] });
  await tx.prepared(insertLabels, [missing, projectId, groupId]);
  return (await find()).map((label) => label.id);
}

async function assertNotTooManyLabels(tx: Tx, { kind, id }: LabelledNoteable): Promise<void> {
  const [row] = await tx.prepared<{ count: number }>(countLabels, [id, kind.type]);
  if (row!.count > LABELS_PER_NOTEABLE) throw createTooManyLabelsError();
}

function createTooManyLabelsError(): Invalid {
  return new Invalid({ labels: [`are too many (maximum is ${LABELS_PER_NOTEABLE})`] });
}
