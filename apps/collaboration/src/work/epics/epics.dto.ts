import { AtLeastOneOf, Day, Exclusive, Flag, Hash, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import { nothingLeft } from '@rookery/kernel';
import type { LabelWish } from '../../planning/labels/labelling/labelling';
import type { EpicInput } from './epic.entity';
import type { EpicWish, NewEpic } from './epics.service';

@Exclusive('author_id', 'author_username')
export class ListEpics {
  @Int({ optional: true }) author_id?: number;
  @Text({ optional: true }) author_username?: string;
  @ListOf('text', { optional: true, splitItems: true, about: 'All of them; `None` and `Any` are told apart.' })
  labels?: readonly string[];
  @Flag({ default: false, about: 'Labels as objects instead of names.' }) with_labels_details: boolean;
  @OneOf(['created_at', 'updated_at', 'title'], { default: 'created_at' })
  order_by: 'created_at' | 'updated_at' | 'title';
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
  @Search({ about: 'Words of the title or description.' }) search?: string;
  @OneOf(['opened', 'closed', 'all'], { default: 'all' }) state: 'opened' | 'closed' | 'all';
  @Flag({ optional: true }) confidential?: boolean;
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
  @Instant({ optional: true }) updated_before?: Date;
  @Flag({ default: false, about: 'Of the groups above, too.' }) include_ancestor_groups: boolean;
  @Flag({ default: true, about: 'Of the groups below, too.' }) include_descendant_groups: boolean;
  @Text({ optional: true, about: 'A name, `None` or `Any`.' }) my_reaction_emoji?: string;
  @Hash({ optional: true, of: 'any', about: 'Exclusions: `author_id` or `author_username`, `labels`.' })
  not?: Readonly<Record<string, unknown>>;
}

export class OneEpic {
  @Int() epic_iid: number;
}

/** What both writes take. */
class EpicWrite {
  @Text({ optional: true, nullable: true, about: 'At most 1,048,576 characters of Markdown.' })
  description?: string | null;
  @Flag({ optional: true }) confidential?: boolean;
  @Text({ optional: true, about: 'Ignored unless the feature `epic_highlight_color` is on.' }) color?: string;
  @Flag({ optional: true, about: 'Whether the fixed day counts; else the inherited one does.' })
  start_date_is_fixed?: boolean;
  @Day({ optional: true, nullable: true, alias: 'start_date' }) start_date_fixed?: string | null;
  @Flag({ optional: true }) due_date_is_fixed?: boolean;
  @Day({ optional: true, nullable: true, alias: 'end_date' }) due_date_fixed?: string | null;
  @ListOf('text', { optional: true, nullable: true, splitItems: true, about: 'Names; nothing takes all labels away.' })
  labels?: readonly string[] | null;
  @Int({ optional: true, nullable: true, about: 'The id, not the number, of an epic of the same hierarchy.' })
  parent_id?: number | null;
}

export class CreateEpic extends EpicWrite {
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Instant({ optional: true, about: 'Administrators and owners; ignored for others.' }) created_at?: Date;
}

@AtLeastOneOf(
  'title',
  'description',
  'confidential',
  'color',
  'start_date_is_fixed',
  'start_date_fixed',
  'due_date_is_fixed',
  'due_date_fixed',
  'labels',
  'add_labels',
  'remove_labels',
  'state_event',
  'parent_id',
  'updated_at',
)
export class UpdateEpic extends EpicWrite {
  @Int() epic_iid: number;
  @Text({ optional: true, about: 'At most 255 characters.' }) title?: string;
  @ListOf('text', { optional: true, splitItems: true }) add_labels?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) remove_labels?: readonly string[];
  @OneOf(['close', 'reopen'], { optional: true }) state_event?: 'close' | 'reopen';
  @Instant({ optional: true, about: 'Administrators and owners; ignored for others.' }) updated_at?: Date;
}

/** The epic that is asked for. */
export function newEpicOf(params: CreateEpic): NewEpic {
  const { labels, parent_id: parentId, created_at: at, ...fields } = params;
  const wished = wishedLabels(labels, undefined, undefined);
  return { fields: { ...only(fields), title: fields.title }, labels: wished, parentId, at };
}

/** The change that is asked for; the path names the epic. */
export function epicWishOf({ epic_iid: _, ...params }: UpdateEpic): EpicWish {
  const { labels, add_labels, remove_labels, parent_id: parentId, updated_at: at, ...fields } = params;
  return { fields: only(fields), labels: wishedLabels(labels, add_labels, remove_labels), parentId, at };
}

/** The fields of the epic's own row. */
function only(params: EpicInput): EpicInput {
  const { title, description, confidential, color, state_event, ...dates } = params;
  const { start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, ...rest } = dates;
  nothingLeft(rest);
  const days = { start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed };
  return { title, description, confidential, color, state_event, ...days };
}

/** What labels it is to have; undefined = as it is. */
function wishedLabels(
  all: readonly string[] | null | undefined,
  add: readonly string[] | undefined,
  remove: readonly string[] | undefined,
): LabelWish | undefined {
  if (all === undefined && add === undefined && remove === undefined) return undefined;
  return { all: all === null ? [] : all, add, remove };
}
