import { AtLeastOneOf, Day, AtMostOneOf, Flag, Hash, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import { assertAllUsed } from '@rookery/kernel';
import type { RequestedLabels } from '../../planning/labels/labelling/labelling';
import type { EpicInput } from './epic.entity';
import type { EpicUpdate, NewEpic } from './epics.service';

@AtMostOneOf('author_id', 'author_username')
export class ListEpics {
  @Int({ optional: true }) author_id?: number;
  @Text({ optional: true }) author_username?: string;
  @ListOf('text', {
    optional: true,
    splitItems: true,
    about: 'Epics must have all of these labels. `None` means no label, `Any` at least one.',
  })
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
  @Flag({ default: false, about: 'Includes epics of the ancestor groups.' }) include_ancestor_groups: boolean;
  @Flag({ default: true, about: 'Includes epics of the subgroups.' }) include_descendant_groups: boolean;
  @Text({ optional: true, about: 'A name, `None` or `Any`.' }) my_reaction_emoji?: string;
  @Hash({ optional: true, of: 'any', about: 'Exclusions: `author_id` or `author_username`, `labels`.' })
  not?: Readonly<Record<string, unknown>>;
}

export class IdentifyEpic {
  @Int() epic_iid: number;
}

/** Fields that creating and updating an epic share. */
class EpicWriteFields {
  @Text({ optional: true, nullable: true, about: 'At most 1,048,576 characters of Markdown.' })
  description?: string | null;
  @Flag({ optional: true }) confidential?: boolean;
  @Text({ optional: true, about: 'Ignored unless the feature `epic_highlight_color` is on.' }) color?: string;
  @Flag({ optional: true, about: 'Uses the fixed date instead of the inherited one.' })
  start_date_is_fixed?: boolean;
  @Day({ optional: true, nullable: true, alias: 'start_date' }) start_date_fixed?: string | null;
  @Flag({ optional: true }) due_date_is_fixed?: boolean;
  @Day({ optional: true, nullable: true, alias: 'end_date' }) due_date_fixed?: string | null;
  @ListOf('text', {
    optional: true,
    nullable: true,
    splitItems: true,
    about: 'Names; an empty list removes all labels.',
  })
  labels?: readonly string[] | null;
  @Int({ optional: true, nullable: true, about: 'The id, not the number, of an epic of the same hierarchy.' })
  parent_id?: number | null;
}

export class CreateEpic extends EpicWriteFields {
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Instant({ optional: true, about: 'For administrators and owners; ignored from other callers.' }) created_at?: Date;
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
export class UpdateEpic extends EpicWriteFields {
  @Int() epic_iid: number;
  @Text({ optional: true, about: 'At most 255 characters.' }) title?: string;
  @ListOf('text', { optional: true, splitItems: true }) add_labels?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) remove_labels?: readonly string[];
  @OneOf(['close', 'reopen'], { optional: true }) state_event?: 'close' | 'reopen';
  @Instant({ optional: true, about: 'For administrators and owners; ignored from other callers.' }) updated_at?: Date;
}

/** Maps the parameters to a new epic. */
export function toNewEpic(params: CreateEpic): NewEpic {
  const { labels, parent_id: parentId, created_at: at, ...fields } = params;
  const labelChange = requestedLabels(labels, undefined, undefined);
  return { fields: { ...pickEpicFields(fields), title: fields.title }, labels: labelChange, parentId, at };
}

/** Maps the parameters to the change of the epic that the path names. */
export function toEpicUpdate({ epic_iid: _, ...params }: UpdateEpic): EpicUpdate {
  const { labels, add_labels, remove_labels, parent_id: parentId, updated_at: at, ...fields } = params;
  return { fields: pickEpicFields(fields), labels: requestedLabels(labels, add_labels, remove_labels), parentId, at };
}

/** Picks the fields of the epic's own row. Errors: for any other field. */
function pickEpicFields(params: EpicInput): EpicInput {
  const { title, description, confidential, color, state_event, ...dates } = params;
  const { start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, ...rest } = dates;
  assertAllUsed(rest);
  const days = { start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed };
  return { title, description, confidential, color, state_event, ...days };
}

/** Maps label parameters to a change of labels; undefined keeps them. */
function requestedLabels(
  all: readonly string[] | null | undefined,
  add: readonly string[] | undefined,
  remove: readonly string[] | undefined,
): RequestedLabels | undefined {
  if (all === undefined && add === undefined && remove === undefined) return undefined;
  return { all: all === null ? [] : all, add, remove };
}
