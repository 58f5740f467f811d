import { json, beginJsonShape, TODAY } from '../../base/noteables/json.shape';
import type { NoteableJsonSql } from '../../base/noteables/noteable-kinds';
import { trimBaseUrl } from '../../base/noteables/person.shape';
import { labelOrMilestoneAppliesSql } from '../../base/noteables/reach-sql';
import { createAddRemoveEventSummaries, resourceEventShape } from '../../base/resource-events/resource-events.shape';
import type { ResourceEventSql, ResourceEvents } from '../../base/resource-events/resource-events.shape';

/** SQL expressions for the JSON of a milestone, in addition to its row `m`. */
export interface MilestoneSql {
  readonly externalUrl: string;
  /** Full path of the project of a project's milestone: a text expression. */
  readonly projectPath: string;
}

/** SQL for the full path of the project, for statements on milestones of several projects. */
export const PROJECT_PATH = `(select home.full_path || '/' || p.path from directory_projects p
  join directory_namespaces home on home.id = p.namespace_id where p.id = m.project_id)`;
const GROUP_PATH = `(select 'groups/' || home.full_path from directory_namespaces home where home.id = m.group_id)`;

/** Milestone as the API shows it. Source: reference work-tracking 9.5. */
export const milestoneShape = beginJsonShape<MilestoneSql>('Milestone')
  .fields({
    id: [json.int, () => 'm.id'],
    iid: [json.int, () => 'm.iid'],
    title: [json.text, () => 'm.title'],
    description: [json.textOrNull, () => 'm.description'],
    state: [json.choice('active', 'closed'), () => 'm.state'],
    created_at: [json.instant, () => 'm.created_at'],
    updated_at: [json.instant, () => 'm.updated_at'],
    due_date: [json.dayOrNull, () => 'm.due_on'],
    start_date: [json.dayOrNull, () => 'm.start_on'],
    expired: [json.bool, () => `m.due_on < ${TODAY}`],
    web_url: [
      json.prefixed,
      (sql) => ({
        prefix: `${trimBaseUrl(sql)}/`,
        sql: `case when m.group_id is null then ${sql.projectPath} else ${GROUP_PATH} end || '/-/milestones/' || m.iid`,
      }),
    ],
  })
  .extend<MilestoneSql>('Milestone')
  .fields({ project_id: [json.int, () => 'm.project_id'] }, () => 'm.project_id is not null')
  .extend<MilestoneSql>('Milestone')
  .fields({ group_id: [json.int, () => 'm.group_id'] }, () => 'm.group_id is not null');

/** Field `milestone` of a noteable `i` of a project. */
export const milestoneOfNoteable = [
  json.found(milestoneShape),
  ({ externalUrl, fullPath, above }: Pick<NoteableJsonSql, 'externalUrl' | 'fullPath' | 'above'>) => ({
    of: { externalUrl, projectPath: fullPath },
    from: `from milestones m where m.id = i.milestone_id and ${labelOrMilestoneAppliesSql('m', { project: 'i.project_id', above })}`,
    by: 'i.milestone_id',
  }),
] as const;

/** SQL for the bytes of the texts of a milestone `m`, for the size limit of pages. */
export const MILESTONE_BYTES = 'coalesce(octet_length(m.description), 0)';

/** Events of milestones that were added to or removed from noteables. Source: reference work-tracking 2.8. */
export const milestoneEvents: ResourceEvents = {
  noun: 'milestone',
  about: createAddRemoveEventSummaries('milestone'),
  table: 'resource_milestone_events',
  joins: (above) =>
    `left join milestones m on m.id = e.milestone_id and ${labelOrMilestoneAppliesSql('m', { project: 'e.project_id', above })}`,
  bytes: `coalesce((select ${MILESTONE_BYTES} from milestones m where m.id = e.milestone_id), 0)`,
  shape: resourceEventShape.extend<ResourceEventSql>('ResourceMilestoneEvent').fields({
    milestone: [
      json.objectWhen(milestoneShape),
      ({ externalUrl }) => ({ of: { externalUrl, projectPath: PROJECT_PATH }, when: 'm.id is not null' }),
    ],
    action: [json.choice('add', 'remove'), () => 'e.action'],
  }),
};
