import { list, nested, text } from '@rookery/api-v4';
import type { NoteableType } from '@rookery/contracts';
import { json, beginJsonShape } from '../../../base/noteables/json.shape';
import type { SqlType } from '../../../base/noteables/json.shape';
import { labelOrMilestoneAppliesSql } from '../../../base/noteables/reach-sql';
import { createAddRemoveEventSummaries, resourceEventShape } from '../../../base/resource-events/resource-events.shape';
import type { ResourceEventSql, ResourceEvents } from '../../../base/resource-events/resource-events.shape';

const labelDetails = beginJsonShape<unknown>('LabelDetails').fields({
  id: [json.int, () => 'l.id'],
  name: [json.text, () => 'l.title'],
  description: [json.textOrNull, () => 'l.description'],
  description_html: [json.text, () => 'l.description_html'],
  text_color: [json.token, () => 'l.text_color'],
  color: [json.token, () => 'l.color'],
});

/** Parameters for the labels of a row `i`. */
export interface LabelsSql {
  readonly type: NoteableType;
  /** Whether labels are objects instead of names. */
  readonly withDetails: boolean;
  /** Ids of the groups above the project, or of the group and those above it: a bigint[] expression. */
  readonly above: string;
  /** Column of the project; null for noteables of groups. Default: `i.project_id`. */
  readonly project?: string | null;
}

/** Labels of a noteable, sorted by name. Source: reference work-tracking 9.1. */
export const labelsOf: SqlType<LabelsSql> = {
  type: {
    schema: { type: 'array', items: { anyOf: [text.schema, nested(labelDetails.presenter).schema] } },
    write: list(text).write,
  },
  pieces: ({ type, withDetails, above, project = 'i.project_id' }) => {
    const one = withDetails ? labelDetails.toSql({}).sql : 'to_json(l.title)::text';
    return [
      { constant: '[' },
      {
        sql: `coalesce((select string_agg(${one}, ',' order by l.title, l.id) from label_links ll
          join labels l on l.id = ll.label_id and ${labelOrMilestoneAppliesSql('l', { project, above })}
          where ll.noteable_id = i.id and ll.noteable_type = '${type}'), '')`,
      },
      { constant: ']' },
    ];
  },
};

const changedLabel = beginJsonShape<unknown>('ChangedLabel').fields({
  id: [json.int, () => 'l.id'],
  name: [json.text, () => 'l.title'],
  color: [json.token, () => 'l.color'],
  description: [json.textOrNull, () => 'l.description'],
});

/** SQL for the bytes of the label details of a row `i`, for the size limit of pages. */
export function labelDetailsBytesSql(type: NoteableType): string {
  return `coalesce((select sum(coalesce(octet_length(l.description), 0) + octet_length(l.description_html))
    from label_links ll join labels l on l.id = ll.label_id
    where ll.noteable_id = i.id and ll.noteable_type = '${type}'), 0)`;
}

/** Events of labels that were added to or removed from noteables. Source: reference work-tracking 2.8. */
export const labelEvents: ResourceEvents = {
  noun: 'label',
  about: createAddRemoveEventSummaries('label'),
  table: 'resource_label_events',
  joins: (above) =>
    `left join labels l on l.id = e.label_id and ${labelOrMilestoneAppliesSql('l', { project: 'e.project_id', above })}`,
  bytes: 'coalesce((select octet_length(l.description) from labels l where l.id = e.label_id), 0)',
  shape: resourceEventShape.extend<ResourceEventSql>('ResourceLabelEvent').fields({
    label: [json.objectWhen(changedLabel), () => ({ of: {}, when: 'l.id is not null' })],
    action: [json.choice('add', 'remove'), () => 'e.action'],
  }),
};
