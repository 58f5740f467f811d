import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Forbidden, Invalid, lengthProblems, keepFieldsWithProblems, Refused, Unauthorized } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { isFinished } from '../pipelines/pipeline-statuses';
import { PipelineRows } from '../pipelines/pipeline-rows';
import { PipelineRunPermissions } from '../pipelines/pipeline-run-permissions';
import type { PipelineArguments } from '../pipelines/pipeline-variables';
import { readArguments, toProjectPipelineRow } from '../pipelines/pipelines.queries';
import type { PipelineRow, StoredPipeline } from '../pipelines/pipelines.queries';
import { JOB_COLUMNS, CiJobRows } from './ci-job-rows';
import type { CiJobStatusChange, CiJobRow } from './ci-job-rows';
import { JobTokens } from './job-tokens';
import type { JobRow } from './jobs.queries';

/** A report of a runner about its job. */
export interface JobReport {
  readonly id: number;
  readonly token: string;
  readonly state: 'running' | 'success' | 'failed' | 'canceled';
  readonly failure_reason?: string;
}

/** A job that a runner opens. */
export interface JobOpening {
  readonly pipeline_id: number;
  readonly name: string;
  readonly stage: string;
}

/** The pending job that a retry has added. */
const WAITING = statement<{ pipeline: number; name: string; stage: string }, CiJobRow>(
  'ci_jobs_waiting',
  `select ${JOB_COLUMNS} from ci_jobs j
   where j.pipeline_id = :pipeline::bigint and j.kind = 'job' and j.name = :name and j.stage = :stage
     and j.status = 'pending' and not j.is_retried
   order by j.id desc limit 1`,
);

/** Jobs of outside runners. Source: reference identity-and-import 7.5. */
@Injectable()
export class JobsService {
  constructor(
    private readonly work: Work,
    private readonly pipelines: PipelineRows,
    private readonly jobs: CiJobRows,
    private readonly tokens: JobTokens,
    private readonly users: PipelineRunPermissions,
  ) {}

  /**
   * Opens a job, which runs from now on as the caller. A pending job of the same name and stage starts; otherwise a job
   * is added. Errors: Invalid for a too long name or stage; NotFound; Refused in a canceled pipeline.
   */
  async openJob(
    project: ProjectScope,
    viewer: SignedInViewer,
    { pipeline_id: pipelineId, name, stage }: JobOpening,
  ): Promise<JobRow & PipelineArguments & { readonly token: string }> {
    const problems = keepFieldsWithProblems({ name: lengthProblems(name, 255), stage: lengthProblems(stage, 255) });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const { token, digest, until } = this.tokens.createToken();
    const change: CiJobStatusChange = { status: 'running', userId: viewer.userId, token: { digest, until } };
    return this.work.run(async (tx) => {
      const pipeline = await this.pipelines.lockPipeline(tx, pipelineId, project.id);
      if (pipeline.status === 'canceled') throw new Refused('Pipeline is canceled');
      const [waiting] = await tx.run(WAITING, { pipeline: pipelineId, name, stage });
      const identity = { projectId: project.id, pipelineId, kind: 'job', name, stage, ref: pipeline.ref } as const;
      const job = waiting
        ? await this.jobs.changeJob(tx, waiting, change)
        : await this.jobs.addJob(tx, { ...identity, userId: viewer.userId }, change);
      const refreshed = await this.pipelines.refreshStatus(tx, pipeline);
      return {
        ...joinPipeline(job, toProjectPipelineRow(refreshed, project)),
        ...(await readArguments(tx, pipelineId)),
        token,
      };
    });
  }

  /**
   * Moves a running job for the holder of its token. Errors: Unauthorized for an unknown token, for that of another job
   * and after the job ended; Forbidden if its user may not run pipelines any more.
   */
  async reportState({ id, token, state, failure_reason: reason }: JobReport): Promise<JobRow> {
    const { project_id: projectId, pipeline_id: pipelineId, user_id: userId } = await this.requireRunningJob(id, token);
    const project = await this.users.findRunnableProject(projectId, userId);
    if (!project?.canRun) throw new Forbidden();
    return this.work.run(async (tx) => {
      const pipeline = await this.pipelines.lockPipeline(tx, pipelineId, projectId);
      const job = await this.requireRunningJob(id, token, tx);
      if (state === 'running') return joinPipeline(job, toProjectPipelineRow(pipeline, project));
      const moved = await this.jobs.changeJob(tx, job, {
        status: state,
        ...(state === 'failed' ? { failureReason: reason ?? 'unknown_failure' } : {}),
      });
      return joinPipeline(moved, toProjectPipelineRow(await this.pipelines.refreshStatus(tx, pipeline), project));
    });
  }

  /** Cancels the jobs of a pipeline that have not ended. Errors: NotFound. */
  cancel(project: ProjectScope, pipelineId: number): Promise<PipelineRow> {
    return this.changePipeline(project, pipelineId, async (tx, pipeline) => {
      if (await this.jobs.cancelAll(tx, pipelineId)) return this.pipelines.refreshStatus(tx, pipeline);
      return isFinished(pipeline.status) ? pipeline : this.pipelines.setStatus(tx, pipeline, 'canceled');
    });
  }

  /** Repeats failed and canceled jobs of outside runners. Errors: NotFound. */
  retry(project: ProjectScope, pipelineId: number): Promise<PipelineRow> {
    return this.changePipeline(project, pipelineId, async (tx, pipeline) => {
      if (await this.jobs.retryAll(tx, pipelineId)) return this.pipelines.refreshStatus(tx, pipeline);
      const isUnused = pipeline.status === 'canceled' && !(await this.jobs.hasAny(tx, pipelineId));
      return isUnused ? this.pipelines.setStatus(tx, pipeline, 'created') : pipeline;
    });
  }

  /** Locks a pipeline, applies the change, and returns the pipeline as answers show it. */
  private async changePipeline(
    project: ProjectScope,
    id: number,
    change: (tx: Tx, pipeline: StoredPipeline) => Promise<StoredPipeline>,
  ): Promise<PipelineRow> {
    return this.work.run(async (tx) => {
      const pipeline = await this.pipelines.lockPipeline(tx, id, project.id);
      return toProjectPipelineRow(await change(tx, pipeline), project);
    });
  }

  private async requireRunningJob(id: number, token: string, tx?: Tx): Promise<CiJobRow> {
    const job = await this.tokens.findJobInAnyState(token, tx);
    if (job?.id !== id || !job.is_running) throw new Unauthorized();
    return job;
  }
}

function joinPipeline(job: CiJobRow, pipeline: PipelineRow): JobRow {
  return {
    ...job,
    ...{ pipeline_iid: pipeline.iid, pipeline_sha: pipeline.sha, pipeline_ref: pipeline.ref },
    ...{ pipeline_is_tag: pipeline.is_tag, pipeline_status: pipeline.status, pipeline_source: pipeline.source },
    ...{ pipeline_created_at: pipeline.created_at, pipeline_updated_at: pipeline.updated_at },
    project_path: pipeline.project_path,
  };
}
