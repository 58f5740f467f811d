import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Invalid, lengthProblems, NotFound, keepFieldsWithProblems, webAddressProblems } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { JOB_COLUMNS, CiJobRows } from '../jobs/ci-job-rows';
import type { CiJobStatusChange, CiJobRow } from '../jobs/ci-job-rows';
import type { JobTarget } from '../jobs/job-transitions';
import { PipelineRows } from '../pipelines/pipeline-rows';
import type { StoredPipeline } from '../pipelines/pipelines.queries';
import { CommitStatusesQueries } from './commit-statuses.queries';
import type { CommitStatusRow } from './commit-statuses.queries';
import { StatusCommits } from './status-commits';
import type { StatusCommit } from './status-commits';

export const REPORTED_STATUSES = [
  'pending',
  'running',
  'success',
  'failed',
  'canceled',
  'skipped',
] as const satisfies readonly JobTarget[];
export type ReportedStatus = (typeof REPORTED_STATUSES)[number];

/** A status that an outside CI reports. Omitted fields keep their values. */
export interface StatusReport {
  readonly sha: string;
  readonly state: ReportedStatus;
  readonly ref?: string;
  readonly name?: string;
  readonly context?: string;
  readonly target_url?: string | null;
  readonly description?: string | null;
  readonly coverage?: number | null;
  readonly pipeline_id?: number;
}

/** Author and place of a report. */
interface StatusReportContext {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
  readonly name: string;
  readonly ref: string | null;
  readonly report: StatusReport;
}

const STAGE = 'external';

/** Serializes reports on one commit, so that concurrent first reports create one pipeline. */
const LOCK_COMMIT = statement<{ commit: string }, never>(
  'commit_statuses_lock',
  `select pg_advisory_xact_lock(hashtextextended('commit status ' || :commit, 0))`,
);
interface FindOpenStatusParams {
  readonly pipeline: number;
  readonly name: string;
  readonly ref: string;
  readonly user: number;
}
const OPEN = statement<FindOpenStatusParams, CiJobRow>(
  'commit_statuses_open',
  `select ${JOB_COLUMNS} from ci_jobs j
   where j.pipeline_id = :pipeline::bigint and j.kind = 'status' and j.name = :name and j.ref = :ref
     and j.user_id = :user::bigint and j.status in ('pending', 'running')
   order by j.id desc limit 1`,
);

/** Statuses that outside CI systems report on commits. Source: reference identity-and-import 7.4. */
@Injectable()
export class CommitStatusesService {
  constructor(
    private readonly work: Work,
    private readonly queries: CommitStatusesQueries,
    private readonly commits: StatusCommits,
    private readonly pipelines: PipelineRows,
    private readonly jobs: CiJobRows,
  ) {}

  /**
   * Reports a status. It joins the newest pipeline that fits, or creates one. Errors: Invalid for a field; NotFound for
   * the commit, its refs or the pipeline; Refused for a forbidden transition; Unavailable.
   */
  async reportStatus(project: ProjectScope, viewer: SignedInViewer, report: StatusReport): Promise<CommitStatusRow> {
    const reporting = {
      project,
      viewer,
      report,
      name: report.name || report.context || 'default',
      ref: report.ref || null,
    };
    checkReportFields(reporting);
    const place = { project: project.id, sha: report.sha, ref: reporting.ref, pipeline: report.pipeline_id ?? null };
    if (await this.queries.findPipeline(place)) {
      const joined = await this.reportInTransaction(reporting, null);
      if (joined !== null) return joined;
    }
    const commit = await this.commits.findCommit(project.id, report.sha, reporting.ref);
    return (await this.reportInTransaction(reporting, commit))!;
  }

  /** Returns null if there is no pipeline to join, and `commit` is missing to create one. */
  private reportInTransaction(
    reporting: StatusReportContext,
    commit: StatusCommit | null,
  ): Promise<CommitStatusRow | null> {
    const { project, report } = reporting;
    const sha = commit?.sha ?? report.sha;
    return this.work.run(async (tx) => {
      await tx.run(LOCK_COMMIT, { commit: `${project.id} ${sha}` });
      const place = { project: project.id, sha, ref: reporting.ref, pipeline: report.pipeline_id ?? null };
      const known = await this.queries.findPipeline(place, tx);
      if (!known && commit === null) return null;
      const { id } = known ?? (await this.createExternalPipeline(tx, reporting, commit!));
      const pipeline = await this.pipelines.lockPipeline(tx, id, project.id);
      const job = await this.writeStatus(tx, reporting, pipeline);
      await this.pipelines.refreshStatus(tx, pipeline);
      return { ...job, sha };
    });
  }

  private createExternalPipeline(
    tx: Tx,
    { project, viewer, report }: StatusReportContext,
    commit: StatusCommit,
  ): Promise<StoredPipeline> {
    const { sha, ref, isTag, committedAt } = commit;
    if (ref === null) throw new NotFound('References for commit');
    if (report.pipeline_id !== undefined) throw new NotFound('Pipeline for pipeline_id, sha and ref');
    const place = { projectId: project.id, sha, ref, isTag, committedAt };
    return this.pipelines.createPipeline(tx, { ...place, source: 'external', userId: viewer.userId });
  }

  /** Changes the caller's open status of this name, or adds one. */
  private async writeStatus(tx: Tx, reporting: StatusReportContext, pipeline: StoredPipeline): Promise<CiJobRow> {
    const { name, viewer } = reporting;
    const ref = reporting.ref ?? pipeline.ref;
    const change = toJobChange(reporting.report);
    const [open] = await tx.run(OPEN, { pipeline: pipeline.id, name, ref, user: viewer.userId });
    if (open) return this.jobs.changeJob(tx, open, change);
    const place = { projectId: pipeline.project_id, pipelineId: pipeline.id, ref } as const;
    return this.jobs.addJob(tx, { ...place, kind: 'status', name, stage: STAGE, userId: viewer.userId }, change);
  }
}

function toJobChange({ state, description, target_url: targetUrl, coverage }: StatusReport): CiJobStatusChange {
  return {
    status: state,
    ...(description === undefined ? {} : { description }),
    ...(targetUrl === undefined ? {} : { targetUrl }),
    ...(coverage === undefined ? {} : { coverage }),
    ...(state === 'failed' ? { failureReason: 'api_failure' } : {}),
  };
}

/** Errors: Invalid. Units: 255 characters each. */
function checkReportFields({ name, ref, report }: StatusReportContext): void {
  const { description, target_url: url } = report;
  const problems = keepFieldsWithProblems({
    ref: lengthProblems(ref ?? '', 255),
    name: lengthProblems(name, 255),
    description: lengthProblems(description ?? '', 255),
    target_url: url ? webAddressProblems(url, 255) : [],
  });
  if (Object.keys(problems).length > 0) throw new Invalid(problems);
}
