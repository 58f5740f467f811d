import { Inject, Injectable } from '@nestjs/common';
import { pipelineChanged, pipelineDeleted, pipelineFinished } from '@rookery/contracts';
import type { Clock } from '@rookery/kernel';
import { CLOCK, NotFound } from '@rookery/kernel';
import { nextInternalId, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { FinishedStatus, PipelineSource, PipelineStatus } from './pipeline-statuses';
import { isFinished, derivePipelineStatus } from './pipeline-statuses';
import type { PipelineArguments, VariableRow } from './pipeline-variables';
import { PIPELINE_COLUMNS } from './pipelines.queries';
import type { StoredPipeline } from './pipelines.queries';

/** Name of the counter of pipelines within a project. */
const PIPELINE_NUMBERS = 'pipelines';

/** A pipeline to create. */
export interface NewPipeline {
  readonly projectId: number;
  readonly sha: string;
  readonly ref: string;
  readonly isTag: boolean;
  /** In ISO 8601. */
  readonly committedAt: string;
  readonly source: PipelineSource;
  readonly userId: number | null;
  readonly upstreamJobId?: number;
  readonly pushId?: number;
  readonly arguments?: PipelineArguments;
}

interface AddPipelineParams {
  readonly project: number;
  readonly iid: number;
  readonly sha: string;
  readonly ref: string;
  readonly isTag: boolean;
  readonly source: PipelineSource;
  readonly user: number | null;
  readonly inputs: string;
  readonly upstream: number | null;
  readonly push: number | null;
  readonly committedAt: string;
  readonly now: Date;
}
const ADD = statement<AddPipelineParams, StoredPipeline>(
  'pipelines_add',
  `insert into pipelines as p (project_id, iid, sha, ref, is_tag, source, user_id, inputs, upstream_job_id, push_id,
     committed_at, created_at, updated_at)
   values (:project::bigint, :iid::bigint, :sha, :ref, :isTag, :source, :user::bigint, :inputs::jsonb, :upstream::bigint,
     :push::bigint, :committedAt::timestamptz, :now::timestamptz, :now::timestamptz)
   returning ${PIPELINE_COLUMNS}`,
);
interface AddVariablesParams {
  readonly pipeline: number;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: readonly string[];
}
const ADD_VARIABLES = statement<AddVariablesParams, never>(
  'pipeline_variables_add',
  `insert into pipeline_variables (pipeline_id, key, value, variable_type)
   select :pipeline::bigint, key, value, variable_type
   from unnest(:keys::text[], :values::text[], :types::text[]) with ordinality as v (key, value, variable_type, place)
   order by place`,
);
const LOCK = statement<{ id: number }, StoredPipeline>(
  'pipelines_lock',
  `select ${PIPELINE_COLUMNS} from pipelines p where p.id = :id::bigint for no key update`,
);

/** Facts about the newest jobs of a pipeline. */
interface JobsSummary {
  readonly statuses: readonly PipelineStatus[];
  readonly coverage: number | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly duration: number | null;
}
const JOB_FACTS = statement<{ pipeline: number }, JobsSummary>(
  'pipelines_job_facts',
  `with newest as (
     select status, coverage, started_at, finished_at from ci_jobs where pipeline_id = :pipeline::bigint and not is_retried
   ), spans as (
     select range_agg(tstzrange(started_at, finished_at)) as ranges from newest where started_at <= finished_at
   )
   select coalesce(array_agg(distinct status), '{}') as statuses, avg(coverage) as coverage, min(started_at) as started_at,
     max(finished_at) as finished_at,
     (select sum(extract(epoch from upper(span) - lower(span)))::integer from spans, unnest(spans.ranges) as span) as duration
   from newest`,
);
interface SetPipelineStateParams {
  readonly id: number;
  readonly status: PipelineStatus;
  readonly coverage: number | null;
  readonly duration: number | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly now: Date;
}
const SET_STATE = statement<SetPipelineStateParams, StoredPipeline>(
  'pipelines_set_state',
  `update pipelines p set status = :status::text, coverage = :coverage::double precision, duration = :duration::integer,
     started_at = coalesce(p.started_at, :startedAt::timestamptz), finished_at = :finishedAt::timestamptz,
     last_outcome = case when :status::text in ('success', 'failed') then :status::text else p.last_outcome end,
     updated_at = :now::timestamptz
   where p.id = :id::bigint returning ${PIPELINE_COLUMNS}`,
);
/** Pipelines of earlier releases have no stored outcome: their status is the outcome. */
const OUTCOME = `coalesce(p.last_outcome, case when p.status in ('success', 'failed') then p.status end)`;
const PREVIOUS = statement<
  Pick<StoredPipeline, 'project_id' | 'ref' | 'is_tag' | 'id'>,
  { outcome: 'success' | 'failed' }
>(
  'pipelines_previous_outcome',
  `select ${OUTCOME} as outcome from pipelines p
   where p.project_id = :project_id::bigint and p.ref = :ref and p.is_tag = :is_tag::boolean and p.id <= :id::bigint
     and ${OUTCOME} is not null
   order by p.id desc limit 1`,
);
const REMOVE = statement<{ id: number }, never>('pipelines_remove', 'delete from pipelines where id = :id::bigint');

/** Writes pipelines. Every writer of a job locks its pipeline first, so that no change of a status is lost. */
@Injectable()
export class PipelineRows {
  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  async createPipeline(tx: Tx, made: NewPipeline): Promise<StoredPipeline> {
    const { variables, inputs } = made.arguments ?? { variables: [], inputs: {} };
    const [row] = await tx.run(ADD, {
      project: made.projectId,
      iid: await nextInternalId(tx, PIPELINE_NUMBERS, made.projectId),
      ...{ sha: made.sha, ref: made.ref, isTag: made.isTag, source: made.source },
      user: made.userId,
      inputs: JSON.stringify(inputs),
      upstream: made.upstreamJobId ?? null,
      push: made.pushId ?? null,
      committedAt: made.committedAt,
      now: this.clock.now(),
    });
    if (variables.length > 0) await tx.run(ADD_VARIABLES, { pipeline: row!.id, ...toVariableParams(variables) });
    emitPipelineChanged(tx, row!);
    return row!;
  }

  /** Locks a pipeline for a change of its jobs. Errors: NotFound. */
  async lockPipeline(tx: Tx, id: number, projectId: number): Promise<StoredPipeline> {
    const [row] = await tx.run(LOCK, { id });
    if (row?.project_id !== projectId) throw new NotFound();
    return row;
  }

  /** Derives the state of a locked pipeline from its jobs. Emits an event if the pipeline has finished by it. */
  async refreshStatus(tx: Tx, locked: StoredPipeline): Promise<StoredPipeline> {
    const [facts] = await tx.run(JOB_FACTS, { pipeline: locked.id });
    const { coverage, duration, started_at: startedAt, finished_at: finishedAt, statuses } = facts!;
    const times = { startedAt, finishedAt, duration };
    return this.writePipelineState(tx, locked, { status: derivePipelineStatus(new Set(statuses)), coverage, ...times });
  }

  /** Sets the status of a locked pipeline without jobs. Emits an event if the pipeline has finished by it. */
  setStatus(tx: Tx, locked: StoredPipeline, status: 'created' | 'canceled'): Promise<StoredPipeline> {
    return this.writePipelineState(tx, locked, {
      status,
      coverage: null,
      duration: null,
      startedAt: null,
      finishedAt: null,
    });
  }

  /** Removes a locked pipeline with its jobs and variables. */
  async removePipeline(tx: Tx, { id, project_id }: Pick<StoredPipeline, 'id' | 'project_id'>): Promise<void> {
    await tx.run(REMOVE, { id });
    tx.emit(pipelineDeleted.of({ aggregateId: id, actorId: null, data: { pipeline_id: id, project_id } }));
  }

  private async writePipelineState(
    tx: Tx,
    locked: StoredPipeline,
    state: Omit<SetPipelineStateParams, 'id' | 'now'>,
  ): Promise<StoredPipeline> {
    const { status } = state;
    const now = this.clock.now();
    const end = isFinished(status)
      ? { duration: state.duration, finishedAt: state.finishedAt ?? now }
      : { duration: null, finishedAt: null };
    const hasEnded = isFinished(status) && status !== locked.status;
    const [previous] = hasEnded ? await tx.run(PREVIOUS, locked) : [];
    const [row] = await tx.run(SET_STATE, { ...state, ...end, id: locked.id, now });
    if (status !== locked.status) emitPipelineChanged(tx, row!);
    if (hasEnded) emitPipelineFinished(tx, row!, status, previous?.outcome ?? null);
    return row!;
  }
}

function emitPipelineFinished(
  tx: Tx,
  row: StoredPipeline,
  status: FinishedStatus,
  previous_status: 'success' | 'failed' | null,
): void {
  const { id, project_id, iid, sha, ref, is_tag, source, user_id, finished_at } = row;
  tx.emit(
    pipelineFinished.of({
      aggregateId: id,
      actorId: null,
      data: {
        ...{ pipeline_id: id, project_id, iid, sha, ref, is_tag, source, status, user_id },
        previous_status,
        finished_at: finished_at!.toISOString(),
      },
    }),
  );
}

function emitPipelineChanged(tx: Tx, row: StoredPipeline): void {
  const { id, project_id, iid, sha, ref, is_tag, source, user_id, duration, coverage } = row;
  const iso = (time: Date | null): string | null => time?.toISOString() ?? null;
  tx.emit(
    pipelineChanged.of({
      aggregateId: id,
      actorId: null,
      data: {
        ...{ pipeline_id: id, project_id, iid, sha, ref, is_tag, source, user_id, duration },
        status: row.status,
        coverage: coverage === null ? null : String(coverage),
        committed_at: iso(row.committed_at),
        started_at: iso(row.started_at),
        finished_at: iso(row.finished_at),
        created_at: row.created_at.toISOString(),
        updated_at: row.updated_at.toISOString(),
      },
    }),
  );
}

function toVariableParams(variables: readonly VariableRow[]): Omit<AddVariablesParams, 'pipeline'> {
  return {
    keys: variables.map(({ key }) => key),
    values: variables.map(({ value }) => value),
    types: variables.map(({ variable_type: type }) => type),
  };
}
