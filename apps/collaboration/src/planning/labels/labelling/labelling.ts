import { Invalid } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Parent, RowOf, Tx } from '@rookery/persistence';
import { perKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { DEFAULT_COLOUR, textColourOn } from '../colours/colours';
import { titleProblems } from '../label.entity';
import type { Label } from '../label.entity';

/** What labels a thing is to have: all of them anew, or some more and less. Names, as they were sent. */
export interface LabelWish {
  readonly all?: readonly string[] | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** What must be known of a kind whose things have labels. */
type Labelled = Pick<NoteableKind, 'type' | 'table'>;

/** A thing whose labels change; its row is locked. */
export interface LabelledThing {
  readonly kind: Labelled;
  readonly id: number;
  /** Null for things of groups. */
  readonly projectId: number | null;
}

/** A wish in ids. */
export interface WishedLabels {
  readonly gets: readonly number[];
  readonly loses: readonly number[];
  /** Whether it loses all others too. */
  readonly isWhole: boolean;
}

/** Ids of labels. */
export interface LabelChange {
  readonly added: readonly number[];
  readonly removed: readonly number[];
}
export const NO_LABEL_CHANGE: LabelChange = { added: [], removed: [] };

/** How many labels a thing has at most, so that lists stay short. Source: reference work-tracking 9.1. */
export const LABELS_PER_THING = 500;

/** $1 names, $2 project or null, $3 groups from the root down: of labels of one name the nearest. */
const named = prepared(
  'labels_named',
  `select distinct on (l.title) l.id, l.title from labels l
   where l.title = any($1::text[]) and (l.project_id = $2::bigint or l.group_id = any($3::bigint[]))
   order by l.title, l.project_id, array_position($3::bigint[], l.group_id) desc`,
);
/** $1 names, $2 project, $3 group. In one order, so that two at once do not wait for each other. */
const make = prepared(
  'labels_make',
  `insert into labels (title, project_id, group_id, description_html, color, text_color)
   select title, $2::bigint, $3::bigint, '', '${DEFAULT_COLOUR}', '${textColourOn(DEFAULT_COLOUR)}'
   from unnest($1::text[]) title order by title
   on conflict do nothing`,
);
/**
 * $1 thing, $2 its project or null, $3 labels that it gets, $4 labels that it loses, $5 whether it loses all others too,
 * $6 who does it, $7 when.
 */
const relabel = perKind(({ table, type }: Labelled) =>
  prepared(
    `${table}_relabel`,
    `with fresh as (
       insert into label_links (noteable_type, noteable_id, label_id, project_id)
       select '${type}', $1::bigint, l.id, $2::bigint
       from (select id from labels where id = any($3::bigint[]) order by id for key share) l
       on conflict do nothing returning label_id
     ), gone as (
       delete from label_links where noteable_id = $1::bigint and noteable_type = '${type}'
         and (label_id = any($4::bigint[]) or ($5::boolean and label_id <> all($3::bigint[])))
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
/** $1 kind, $2 thing, $3 project, $4 groups from the root down: of labels of one name the nearest. */
const namesakes = prepared(
  'labels_namesakes_of_thing',
  `select distinct on (l.title) l.id from labels l
   where l.title in (select o.title from label_links k join labels o on o.id = k.label_id
       where k.noteable_id = $2::bigint and k.noteable_type = $1)
     and (l.project_id = $3::bigint or l.group_id = any($4::bigint[]))
   order by l.title, l.project_id, array_position($4::bigint[], l.group_id) desc`,
);
const counted = prepared(
  'labels_of_thing',
  'select count(*)::integer as count from label_links where noteable_id = $1::bigint and noteable_type = $2',
);

/**
 * The labels that are wished for. Names that neither the place nor a group above knows become labels of the place:
 * whoever may set labels may make them. Locks nothing that a request without new names waits for.
 * Errors: Invalid for a name that no label can have, and for too many. Source: reference work-tracking 9.1.
 */
export async function wishedLabels(tx: Tx, parent: Parent, wish: LabelWish | undefined): Promise<WishedLabels | null> {
  if (!wish) return null;
  const removed = new Set(wish.remove);
  const wanted = [...new Set([...(wish.all ?? []), ...(wish.add ?? [])])].filter((name) => !removed.has(name));
  if (wanted.length > LABELS_PER_THING) throw tooMany();
  const gets = await labelsNamed(tx, parent, wanted, { makes: true });
  const loses = await labelsNamed(tx, parent, [...removed], { makes: false });
  return { gets, loses, isWhole: wish.all !== undefined };
}

/** The labels of another project that are called as those of a thing. None is made. Source: reference work-tracking 9.1. */
export async function namesakesOf(
  tx: Tx,
  thing: Pick<LabelledThing, 'kind' | 'id'>,
  there: Extract<Parent, { readonly kind: 'project' }>,
): Promise<WishedLabels> {
  const values = [thing.kind.type, thing.id, there.id, there.namespace.traversalIds];
  const rows = await tx.prepared<{ id: number }>(namesakes, values);
  return { gets: rows.map((row) => row.id), loses: [], isWhole: true };
}

/** The labels that the place or a group above it knows by these names, of one name the nearest. */
export async function knownLabels(
  tx: Tx,
  parent: Parent,
  names: readonly string[],
): Promise<RowOf<Label, 'id' | 'title'>[]> {
  if (names.length === 0) return [];
  const [projectId, above] =
    parent.kind === 'project' ? [parent.id, parent.namespace.traversalIds] : [null, parent.traversalIds];
  return tx.prepared(named, [names, projectId, above]);
}

/** Gives a thing its labels and says what changed. Errors: Invalid for too many. Source: reference work-tracking 2.8. */
export async function putLabels(
  tx: Tx,
  thing: LabelledThing,
  wished: WishedLabels | null,
  by: { readonly actorId: number; readonly at: Date },
): Promise<LabelChange> {
  if (!wished) return NO_LABEL_CHANGE;
  const { gets, loses, isWhole } = wished;
  const values = [thing.id, thing.projectId, gets, loses, isWhole, by.actorId, by.at];
  const changed = await tx.prepared<{ label_id: number; action: 'add' | 'remove' }>(relabel(thing.kind), values);
  const those = (action: 'add' | 'remove'): number[] =>
    changed.filter((one) => one.action === action).map((one) => one.label_id);
  if (!isWhole && those('add').length > 0) await refuseTooMany(tx, thing);
  return { added: those('add'), removed: those('remove') };
}

async function labelsNamed(
  tx: Tx,
  parent: Parent,
  names: readonly string[],
  { makes }: { readonly makes: boolean },
): Promise<number[]> {
  if (names.length === 0) return [];
  const [projectId, groupId] = parent.kind === 'project' ? [parent.id, null] : [null, parent.id];
  const find = (): Promise<RowOf<Label, 'id' | 'title'>[]> => knownLabels(tx, parent, names);
  const found = await find();
  const known = new Set(found.map((label) => label.title));
  const missing = names.filter((name) => !known.has(name));
  if (!makes || missing.length === 0) return found.map((label) => label.id);
  const problems = missing.flatMap(titleProblems);
  if (problems.length > 0) throw new Invalid({ labels: [...new Set(problems)] });
  await tx.prepared(make, [missing, projectId, groupId]);
  return (await find()).map((label) => label.id);
}

async function refuseTooMany(tx: Tx, { kind, id }: LabelledThing): Promise<void> {
  const [row] = await tx.prepared<{ count: number }>(counted, [id, kind.type]);
  if (row!.count > LABELS_PER_THING) throw tooMany();
}

function tooMany(): Invalid {
  return new Invalid({ labels: [`are too many (maximum is ${LABELS_PER_THING})`] });
}
