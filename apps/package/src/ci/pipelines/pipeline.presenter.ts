import {
  alwaysEmptyList,
  alwaysNull,
  bool,
  choice,
  instant,
  int,
  nested,
  nullable,
  object,
  presenter,
  text,
} from '@rookery/api-v4';
import { userSummary } from '@rookery/directory';
import { findUserOfRow, loadUsers } from './user-of-row.presenter';
import { PIPELINE_SOURCES, PIPELINE_STATUSES } from './pipeline-statuses';
import type { PipelineStatus } from './pipeline-statuses';
import { VARIABLE_TYPES } from './pipeline-variable.entity';
import type { VariableRow } from './pipeline-variables';
import type { PipelineRow } from './pipelines.queries';

const NO_COMMIT = '0'.repeat(40);

/** Text and label of a status, where they differ from its name. */
const TEXTS: Partial<Record<PipelineStatus, readonly [string, string]>> = { success: ['Passed', 'passed'] };

/** Source: reference identity-and-import 7.3. */
export const pipelinePresenter = presenter<PipelineRow>('Pipeline').fields({
  id: [int, (pipeline) => pipeline.id],
  iid: [int, (pipeline) => pipeline.iid],
  project_id: [int, (pipeline) => pipeline.project_id],
  sha: [text, (pipeline) => pipeline.sha, { about: 'Full id of the commit.' }],
  ref: [text, (pipeline) => pipeline.ref],
  status: [choice<string>(...PIPELINE_STATUSES), (pipeline) => pipeline.status],
  source: [choice<string>(...PIPELINE_SOURCES), (pipeline) => pipeline.source, { about: 'Cause of the pipeline.' }],
  created_at: [instant, (pipeline) => pipeline.created_at],
  updated_at: [instant, (pipeline) => pipeline.updated_at],
  web_url: [text, (pipeline, _, { links }) => links.webUrl(pipelinePath(pipeline))],
  name: [alwaysNull, () => null, { about: 'Always null: a pipeline of an outside CI has no name.' }],
});

function pipelinePath({ project_path: path, id }: Pick<PipelineRow, 'project_path' | 'id'>): string {
  return `${path}/-/pipelines/${id}`;
}

/** A pipeline on its own. */
export const detailedPipelinePresenter = pipelinePresenter
  .extend<PipelineRow>('PipelineDetail')
  .load(loadUsers)
  .fields({
    before_sha: [text, () => NO_COMMIT, { about: 'Always zeros: a pipeline does not know the commit before.' }],
    tag: [bool, (pipeline) => pipeline.is_tag, { about: 'Whether the ref is a tag.' }],
    yaml_errors: [alwaysNull, () => null, { about: 'Always null: configurations are not read.' }],
    user: [
      nullable(nested(userSummary)),
      findUserOfRow,
      { about: 'The user as whom the pipeline runs; null for a deleted user.' },
    ],
    started_at: [nullable(instant), (pipeline) => pipeline.started_at, { about: 'When its first job started.' }],
    finished_at: [nullable(instant), (pipeline) => pipeline.finished_at, { about: 'When its last job ended.' }],
    committed_at: [nullable(instant), (pipeline) => pipeline.committed_at, { about: 'Time of the commit.' }],
    duration: [nullable(int), (pipeline) => pipeline.duration, { about: 'Seconds in which jobs ran.' }],
    queued_duration: [nullable(int), queuedSeconds, { about: 'Seconds between creation and the first job.' }],
    coverage: [
      nullable(text),
      (pipeline) => formatCoverage(pipeline.coverage),
      { about: 'Mean test coverage, in percent.' },
    ],
    detailed_status: [
      object({
        icon: text,
        text,
        label: text,
        group: text,
        tooltip: text,
        has_details: bool,
        details_path: text,
        illustration: alwaysNull,
        favicon: alwaysNull,
      }),
      detailedStatus,
      { about: 'The status in words, and the path of its page.' },
    ],
  });

function queuedSeconds({ started_at: started, created_at: created }: PipelineRow): number | null {
  return started && Math.max(0, Math.floor((started.getTime() - created.getTime()) / 1000));
}

/** Formats a coverage with one or two decimals. */
function formatCoverage(coverage: number | null): string | null {
  return coverage === null ? null : coverage.toFixed(2).replace(/0$/, '');
}

function detailedStatus(pipeline: PipelineRow) {
  const { status } = pipeline;
  const [shown, label] = TEXTS[status] ?? [status.charAt(0).toUpperCase() + status.slice(1), status];
  return {
    icon: `status_${status}`,
    text: shown,
    label,
    group: status,
    tooltip: label,
    has_details: true,
    details_path: `/${pipelinePath(pipeline)}`,
    illustration: null,
    favicon: null,
  };
}

export const pipelineVariablePresenter = presenter<VariableRow>('PipelineVariable').fields({
  variable_type: [choice(...VARIABLE_TYPES), (variable) => variable.variable_type],
  key: [text, (variable) => variable.key],
  value: [text, (variable) => variable.value, { about: 'Value of the variable.' }],
});

/** Bridges start other pipelines by a configuration, which Rookery does not read. */
export const bridgePresenter = presenter<never>('PipelineBridge').fields({ id: [int, () => 0] });

const zero = [int, () => 0] as const;

/** Test report of a pipeline. Source: reference identity-and-import 7.3. */
export const testReportPresenter = presenter<object>('PipelineTestReport').fields({
  total_time: [int, () => 0, { about: 'Always 0: jobs hand in no test reports.' }],
  total_count: [...zero, { about: 'Always 0.' }],
  success_count: [...zero, { about: 'Always 0.' }],
  failed_count: [...zero, { about: 'Always 0.' }],
  skipped_count: [...zero, { about: 'Always 0.' }],
  error_count: [...zero, { about: 'Always 0.' }],
  test_suites: [alwaysEmptyList, () => [], { about: 'Always empty.' }],
});

const NO_TESTS = { time: 0, count: 0, success: 0, failed: 0, skipped: 0, error: 0, suite_error: null };

export const testReportSummaryPresenter = presenter<object>('PipelineTestReportSummary').fields({
  total: [
    object({
      ...{ time: int, count: int, success: int, failed: int, skipped: int, error: int },
      suite_error: alwaysNull,
    }),
    () => NO_TESTS,
    { about: 'Always zeros: jobs hand in no test reports.' },
  ],
  test_suites: [alwaysEmptyList, () => [], { about: 'Always empty.' }],
});
