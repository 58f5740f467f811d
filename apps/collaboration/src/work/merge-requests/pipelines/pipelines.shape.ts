import { alwaysNull, bool, text } from '@rookery/api-v4';
import { json, beginJsonShape } from '../../../base/noteables/json.shape';
import type { PersonalJsonSql } from '../../../base/noteables/noteable-kinds';
import { trimBaseUrl, personShape } from '../../../base/noteables/person.shape';

/** A pipeline `c` of a merge request. `fullPath` is the SQL of the path of its project. */
type PipelineSql = Pick<PersonalJsonSql, 'externalUrl' | 'fullPath'>;

const NO_COMMIT = '0'.repeat(40);
const pipelinePathSql = (fullPath: string): string => `${fullPath} || '/-/pipelines/' || c.id`;
const LABEL = `case c.status when 'success' then 'passed' else c.status end`;
const TEXT = `case c.status when 'success' then 'Passed' else upper(left(c.status, 1)) || substr(c.status, 2) end`;

/** The fields of the package service, in its order. Source: reference repositories 8.16. */
export const pipelineShape = beginJsonShape<PipelineSql>('MergeRequestPipeline').fields({
  id: [json.int, () => 'c.id'],
  iid: [json.int, () => 'c.iid'],
  project_id: [json.int, () => 'c.project_id'],
  sha: [json.token, () => 'c.sha'],
  ref: [json.text, () => 'c.ref'],
  status: [json.token, () => 'c.status'],
  source: [json.token, () => 'c.source'],
  created_at: [json.instant, () => 'c.created_at'],
  updated_at: [json.instant, () => 'c.updated_at'],
  web_url: [json.prefixed, (sql) => ({ prefix: `${trimBaseUrl(sql)}/`, sql: pipelinePathSql(sql.fullPath) })],
  name: [json.constant(alwaysNull), () => null],
});

const statusShape = beginJsonShape<PipelineSql>('MergeRequestPipelineStatus').fields({
  icon: [json.token, () => `'status_' || c.status`],
  text: [json.token, () => TEXT],
  label: [json.token, () => LABEL],
  group: [json.token, () => 'c.status'],
  tooltip: [json.token, () => LABEL],
  has_details: [json.constant(bool), () => true],
  details_path: [json.text, ({ fullPath }) => `'/' || ${pipelinePathSql(fullPath)}`],
  illustration: [json.constant(alwaysNull), () => null],
  favicon: [json.constant(alwaysNull), () => null],
});

/** The head pipeline of a merge request. */
export const headPipelineShape = pipelineShape.extend<PipelineSql>('MergeRequestHeadPipeline').fields({
  before_sha: [json.constant(text), () => NO_COMMIT],
  tag: [json.bool, () => 'c.is_tag'],
  yaml_errors: [json.constant(alwaysNull), () => null],
  user: [
    json.found(personShape),
    ({ externalUrl }) => ({ of: { user: 'u', externalUrl }, from: 'from directory_users u where u.id = c.user_id' }),
  ],
  started_at: [json.instantOrNull, () => 'c.started_at'],
  finished_at: [json.instantOrNull, () => 'c.finished_at'],
  committed_at: [json.instantOrNull, () => 'c.committed_at'],
  duration: [json.intOrNull, () => 'c.duration'],
  queued_duration: [
    json.intOrNull,
    () => 'greatest(0, floor(extract(epoch from c.started_at - c.created_at)))::integer',
  ],
  coverage: [json.tokenOrNull, () => 'round(c.coverage::numeric, 2)::text'],
  detailed_status: [json.object(statusShape), (sql) => sql],
});
