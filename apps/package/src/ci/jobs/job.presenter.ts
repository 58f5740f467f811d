import {
  alwaysEmptyList,
  alwaysNull,
  bool,
  choice,
  instant,
  int,
  list,
  mapOf,
  nested,
  nullable,
  number,
  object,
  presenter,
  text,
} from '@rookery/api-v4';
import { userSummary } from '@rookery/directory';
import { findUserOfRow, loadUsers } from '../pipelines/user-of-row.presenter';
import { pipelinePresenter, pipelineVariablePresenter } from '../pipelines/pipeline.presenter';
import { PIPELINE_STATUSES } from '../pipelines/pipeline-statuses';
import type { PipelineArguments } from '../pipelines/pipeline-variables';
import type { PipelineRow } from '../pipelines/pipelines.queries';
import type { JobRow } from './jobs.queries';

/** Source: reference identity-and-import 7.5. */
export const jobPresenter = presenter<JobRow>('Job')
  .load(loadUsers)
  .fields({
    id: [int, (job) => job.id],
    status: [choice<string>(...PIPELINE_STATUSES), (job) => job.status],
    stage: [text, (job) => job.stage, { about: 'Stage of the job.' }],
    name: [text, (job) => job.name],
    ref: [text, (job) => job.ref],
    tag: [bool, (job) => job.pipeline_is_tag, { about: 'Whether the ref is a tag.' }],
    coverage: [nullable(number), (job) => job.coverage, { about: 'Test coverage in percent.' }],
    allow_failure: [bool, () => false, { about: 'Always false: a failed job fails its pipeline.' }],
    created_at: [instant, (job) => job.created_at],
    started_at: [nullable(instant), (job) => job.started_at, { about: 'When it started.' }],
    finished_at: [nullable(instant), (job) => job.finished_at, { about: 'When it ended.' }],
    erased_at: [alwaysNull, () => null, { about: 'Always null: jobs have no logs.' }],
    duration: [
      nullable(number),
      (job) => secondsBetween(job.started_at, job.finished_at),
      { about: 'Seconds that it ran.' },
    ],
    queued_duration: [
      nullable(number),
      (job) => secondsBetween(job.queued_at, job.started_at),
      { about: 'Seconds that it waited for a runner.' },
    ],
    user: [
      nullable(nested(userSummary)),
      findUserOfRow,
      { about: 'The user as whom the job runs; null for a deleted user.' },
    ],
    commit: [alwaysNull, () => null, { about: 'Always null; `pipeline` has the id of the commit.' }],
    pipeline: [nested(pipelinePresenter), toPipelineRow],
    failure_reason: [nullable(text), (job) => job.failure_reason, { about: 'Reason of a failed job.' }],
    web_url: [text, (job, _, { links }) => links.webUrl(`${job.project_path}/-/jobs/${job.id}`)],
    project: [
      object({ ci_job_token_scope_enabled: bool }),
      () => ({ ci_job_token_scope_enabled: true }),
      { about: 'The token of a job works in its own project only.' },
    ],
    artifacts: [alwaysEmptyList, () => [], { about: 'Always empty.' }],
    runner: [alwaysNull, () => null, { about: 'Always null: runners are not registered.' }],
    artifacts_expire_at: [alwaysNull, () => null, { about: 'Always null.' }],
    archived: [bool, () => false, { about: 'Always false.' }],
    tag_list: [alwaysEmptyList, () => [], { about: 'Always empty.' }],
  });

/** A job that was opened for a runner, with all that the runner needs. */
export interface OpenedJob extends JobRow, PipelineArguments {
  readonly token: string;
}

export const openedJobPresenter = jobPresenter.extend<OpenedJob>('OpenedJob').fields({
  token: [text, (job) => job.token, { about: 'Token of the job. It works while the job runs.', shownOnce: true }],
  variables: [
    list(nested(pipelineVariablePresenter)),
    (job) => job.variables,
    { about: 'Variables that the pipeline was started with.' },
  ],
  inputs: [
    mapOf(text),
    (job) => Object.fromEntries(Object.entries(job.inputs).map(([name, value]) => [name, JSON.stringify(value)])),
    { about: 'Inputs that the pipeline was started with, each as JSON.' },
  ],
});

function toPipelineRow(job: JobRow): PipelineRow {
  return {
    ...{ id: job.pipeline_id, project_id: job.project_id, project_path: job.project_path, user_id: null },
    ...{ iid: job.pipeline_iid, sha: job.pipeline_sha, ref: job.pipeline_ref, is_tag: job.pipeline_is_tag },
    ...{ status: job.pipeline_status, source: job.pipeline_source },
    ...{ created_at: job.pipeline_created_at, updated_at: job.pipeline_updated_at },
    ...{ coverage: null, duration: null, committed_at: null, started_at: null, finished_at: null },
  };
}

/** Seconds between two times; null while one is missing. */
function secondsBetween(from: Date | null, to: Date | null): number | null {
  return from && to && (to.getTime() - from.getTime()) / 1000;
}
