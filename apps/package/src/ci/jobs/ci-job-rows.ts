import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { PipelineStatus } from '../pipelines/pipeline-statuses';
import type { CiJob, CiJobKind } from './ci-job.entity';
import { CANCELABLE, computeJobTransitionTimes } from './job-transitions';
import type { JobTarget } from './job-transitions';

/** A job or reported status as stored. */
export type CiJobRow = RowOf<
  CiJob,
  | 'id'
  | 'projectId'
  | 'pipelineId'
  | 'kind'
  | 'name'
  | 'stage'
  | 'ref'
  | 'status'
  | 'userId'
  | 'description'
  | 'targetUrl'
  | 'coverage'
  | 'failureReason'
  | 'queuedAt'
  | 'startedAt'
  | 'finishedAt'
  | 'createdAt'
>;

/** Columns of a `CiJobRow`. The alias is `j`. */
export const JOB_COLUMNS = `j.id, j.project_id, j.pipeline_id, j.kind, j.name, j.stage, j.ref, j.status, j.user_id,
  j.description, j.target_url, j.coverage, j.failure_reason, j.queued_at, j.started_at, j.finished_at, j.created_at`;

/** Identity of a new job. */
export interface NewCiJob {
  readonly projectId: number;
  readonly pipelineId: number;
  readonly kind: CiJobKind;
  readonly name: string;
  readonly stage: string;
  readonly ref: string;
  readonly userId: number | null;
}

/** A change of a job. Omitted fields keep their values. */
export interface CiJobStatusChange {
  readonly status: JobTarget;
  readonly description?: string | null;
  readonly targetUrl?: string | null;
  readonly coverage?: number | null;
  readonly failureReason?: string;
  readonly userId?: number;
  readonly token?: { readonly digest: Buffer; readonly until: Date };
}

interface AddJobParams {
  readonly project: number;
  readonly pipeline: number;
  readonly kind: CiJobKind;
  readonly name: string;
  readonly stage: string;
  readonly ref: string;
  readonly user: number | null;
  readonly now: Date;
}
const ADD = statement<AddJobParams, CiJobRow>(
  'ci_jobs_add',
  `insert into ci_jobs as j (project_id, pipeline_id, kind, name, stage, ref, status, user_id, created_at, updated_at)
   values (:project::bigint, :pipeline::bigint, :kind, :name, :stage, :ref, 'created', :user::bigint, :now::timestamptz,
     :now::timestamptz)
   returning ${JOB_COLUMNS}`,
);
const SUPERSEDE = statement<{ pipeline: number; name: string; id: number; now: Date }, never>(
  'ci_jobs_supersede',
  `update ci_jobs set is_retried = true, updated_at = :now::timestamptz
   where pipeline_id = :pipeline::bigint and name = :name and id <> :id::bigint and not is_retried`,
);
interface WriteJobParams {
  readonly id: number;
  readonly status: PipelineStatus;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly coverage: number | null;
  readonly failureReason: string | null;
  readonly user: number | null;
  readonly digest: Buffer | null;
  readonly until: Date | null;
  readonly queuedAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly now: Date;
}
const WRITE = statement<WriteJobParams, CiJobRow>(
  'ci_jobs_write',
  `update ci_jobs j set status = :status, description = :description, target_url = :targetUrl,
     coverage = :coverage::double precision, failure_reason = :failureReason, user_id = :user::bigint,
     token_digest = coalesce(:digest::bytea, j.token_digest), token_until = coalesce(:until::timestamptz, j.token_until),
     queued_at = :queuedAt::timestamptz, started_at = :startedAt::timestamptz, finished_at = :finishedAt::timestamptz,
     updated_at = :now::timestamptz
   where j.id = :id::bigint returning ${JOB_COLUMNS}`,
);
const CANCEL = statement<{ pipeline: number; now: Date }, { id: number }>(
  'ci_jobs_cancel',
  `update ci_jobs set status = 'canceled', finished_at = :now::timestamptz, updated_at = :now::timestamptz
   where pipeline_id = :pipeline::bigint
     and status in (${CANCELABLE.map((status) => `'${status}'`).join(', ')})
   returning id`,
);
/** Reported statuses are repeated by their CI alone. */
const RETRY = statement<{ pipeline: number; now: Date }, { id: number }>(
  'ci_jobs_retry',
  `with ended as (
     update ci_jobs set is_retried = true, updated_at = :now::timestamptz
     where pipeline_id = :pipeline::bigint and kind = 'job' and status in ('failed', 'canceled') and not is_retried
     returning *
   )
   insert into ci_jobs (project_id, pipeline_id, kind, name, stage, ref, status, user_id, queued_at, created_at, updated_at)
   select project_id, pipeline_id, kind, name, stage, ref, 'pending', user_id, :now::timestamptz, :now::timestamptz,
     :now::timestamptz
   from ended order by ended.id returning id`,
);
const ANY = statement<{ pipeline: number }, { id: number }>(
  'ci_jobs_any',
  'select id from ci_jobs where pipeline_id = :pipeline::bigint limit 1',
);

/** Writes jobs of pipelines. The caller has locked the pipeline, and refreshes its state afterwards. */
@Injectable()
export class CiJobRows {
  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  /** Adds a job with its first status (`change`). Jobs of the same name in the pipeline count as retried from now on. */
  async addJob(tx: Tx, made: NewCiJob, change: CiJobStatusChange): Promise<CiJobRow> {
    const { projectId: project, pipelineId: pipeline, userId: user, kind, name, stage, ref } = made;
    const now = this.clock.now();
    const [row] = await tx.run(ADD, { project, pipeline, kind, name, stage, ref, user, now });
    await tx.run(SUPERSEDE, { pipeline, name, id: row!.id, now });
    return this.changeJob(tx, row!, change);
  }

  /** Moves a job to another status. Errors: Refused for a move that the state machine forbids. */
  async changeJob(tx: Tx, job: CiJobRow, change: CiJobStatusChange): Promise<CiJobRow> {
    const now = this.clock.now();
    const { queuedAt, startedAt, finishedAt } = computeJobTransitionTimes(job.status, change.status, now);
    const { description, targetUrl, coverage, failureReason, userId, token } = change;
    const [row] = await tx.run(WRITE, {
      ...{ id: job.id, status: change.status, now },
      description: description === undefined ? job.description : description,
      targetUrl: targetUrl === undefined ? job.target_url : targetUrl,
      coverage: coverage === undefined ? job.coverage : coverage,
      failureReason: failureReason ?? job.failure_reason,
      user: userId ?? job.user_id,
      ...{ digest: token?.digest ?? null, until: token?.until ?? null },
      queuedAt: queuedAt ?? job.queued_at,
      startedAt: startedAt ?? job.started_at,
      finishedAt: finishedAt ?? job.finished_at,
    });
    return row!;
  }

  /** Cancels the jobs of a pipeline that have not ended. Returns whether there were any. */
  async cancelAll(tx: Tx, pipeline: number): Promise<boolean> {
    return (await tx.run(CANCEL, { pipeline, now: this.clock.now() })).length > 0;
  }

  /** Adds a pending job for each failed or canceled job of an outside runner. Returns whether there were any. */
  async retryAll(tx: Tx, pipeline: number): Promise<boolean> {
    return (await tx.run(RETRY, { pipeline, now: this.clock.now() })).length > 0;
  }

  async hasAny(tx: Tx, pipeline: number): Promise<boolean> {
    return (await tx.run(ANY, { pipeline })).length > 0;
  }
}
