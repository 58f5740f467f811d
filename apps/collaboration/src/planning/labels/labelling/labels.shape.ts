import { list, nested, text } from '@rookery/api-v4';
import type { NoteableType } from '@rookery/contracts';
import { json, jsonShape } from '../../../base/noteables/json.shape';
import type { SqlType } from '../../../base/noteables/json.shape';
import { reachedSql } from '../../../base/noteables/reach-sql';
import { gotAndLost, resourceEventShape } from '../../../base/resource-events/resource-events.shape';
import type { ResourceEventSql, ResourceEvents } from '../../../base/resource-events/resource-events.shape';

const labelDetails = jsonShape<unknown>('LabelDetails').fields({
  id: [json.int, () => 'l.id'],
  name: [json.text, () => 'l.title'],
  description: [json.textOrNull, () => 'l.description'],
  description_html: [json.text, () => 'l.description_html'],
  text_color: [json.token, () => 'l.text_color'],
  color: [json.token, () => 'l.color'],
});

/** The labels of a row `i`. */
export interface LabelsSql {
  readonly type: NoteableType;
  /** As objects instead of names. */
  readonly withDetails: boolean;
  /** Ids of the groups above its project, or of its group and those above it, a bigint[] expression. */
  readonly above: string;
  /** The column of its project; null for things of groups. Default: `i.project_id`. */
  readonly project?: string | null;
}

/** The labels of a thing, by name. Source: reference work-tracking 9.1. */
export const labelsOf: SqlType<LabelsSql> = {
  type: {
    schema: { type: 'array', items: { anyOf: [text.schema, nested(labelDetails.presenter).schema] } },
    write: list(text).write,
  },
  pieces: ({ type, withDetails, above, project = 'i.project_id' }) => {
    const one = withDetails ? labelDetails.over({}).sql : 'to_json(l.title)::text';
    return [
      { constant: '[' },
      {
        sql: `coalesce((select string_agg(${one}, ',' order by l.title, l.id) from label_links ll
          join labels l on l.id = ll.label_id and ${reachedSql('l', { project, above })}
          where ll.noteable_id = i.id and ll.noteable_type = '${type}'), '')`,
      },
      { constant: ']' },
    ];
  },
};

const changedLabel = jsonShape<unknown>('ChangedLabel').fields({
  id: [json.int, () => 'l.id'],
  name: [json.text, () => 'l.title'],
  color: [json.token, () => 'l.color'],
  description: [json.textOrNull, () => 'l.description'],
});

/** The bytes of the details of the labels of a row `i`, as lists weigh their pages. */
export function labelDetailsBytes(type: NoteableType): string {
  return `coalesce((select sum(coalesce(octet_length(l.description), 0) + octet_length(l.description_html))
    from label_links ll join labels l on l.id = ll.label_id
    where ll.noteable_id = i.id and ll.noteable_type = '${type}'), 0)`;
}

/** Labels that things got and lost. Source: reference work-tracking 2.8. */
export const labelEvents: ResourceEvents = {
  noun: 'label',
  about: gotAndLost('label'),
  table: 'resource_label_events',
  joins: (above) =>
    `left join labels l on l.id = e.label_id and ${reachedSql('l', { project: 'e.project_id', above })}`,
  bytes: 'coalesce((select octet_length(l.description) from labels l where l.id = e.label_id), 0)',
  shape: resourceEventShape.extend<ResourceEventSql>('ResourceLabelEvent').fields({
    label: [json.objectWhen(changedLabel), () => ({ of: {}, when: 'l.id is not null' })],
    action: [json.choice('add', 'remove'), () => 'e.action'],
  }),
};
