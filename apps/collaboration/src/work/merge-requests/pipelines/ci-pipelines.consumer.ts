import { Controller } from '@nestjs/common';
import { pipelineChanged, pipelineDeleted } from '@rookery/contracts';
import { Jobs } from '@rookery/jobs';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { statement } from '@rookery/persistence';
import { ACTIVE_STATUSES } from './head-pipeline-sql';
import { mergeAutomatically } from './merge-automatically';
import { PipelineTodos } from './pipeline-todos';

interface PipelineValues {
  readonly id: number;
  readonly project: number;
  readonly iid: number;
  readonly sha: string;
  readonly ref: string;
  readonly is_tag: boolean;
  readonly source: string;
  readonly status: string;
  readonly user: number | null;
  readonly coverage: string | null;
  readonly duration: number | null;
  readonly committed: string | null;
  readonly started: string | null;
  readonly finished: string | null;
  readonly created: string;
  readonly updated: string;
}

/** Returns the former status, null for a new pipeline; no row if a later state is stored already. */
const storePipeline = statement<PipelineValues, { before: string | null }>(
  'ci_pipelines_store',
  `with old as (select status from ci_pipelines where id = :id::bigint and status <> '')
   insert into ci_pipelines as c (id, project_id, iid, sha, ref, is_tag, source, status, user_id, coverage, duration,
     committed_at, started_at, finished_at, created_at, updated_at)
   values (:id::bigint, :project::bigint, :iid::bigint, :sha, :ref, :is_tag::boolean, :source, :status, :user::bigint,
     :coverage, :duration::integer, :committed::timestamptz, :started::timestamptz, :finished::timestamptz,
     :created::timestamptz, :updated::timestamptz)
   on conflict (id) do update set status = excluded.status, coverage = excluded.coverage, duration = excluded.duration,
     started_at = excluded.started_at, finished_at = excluded.finished_at, updated_at = excluded.updated_at
   where c.updated_at <= excluded.updated_at and not c.is_deleted
   returning (select status from old) as before`,
);
const markDeleted = statement<{ id: number; project: number }, never>(
  'ci_pipelines_mark_deleted',
  `insert into ci_pipelines (id, project_id, is_deleted) values (:id::bigint, :project::bigint, true)
   on conflict (id) do update set is_deleted = true`,
);

/**
 * Copies pipelines of the package service, with to-dos about failed ones, and starts automatic merges when one ends.
 * Source: reference repositories 8.16.
 */
@Controller()
export class CiPipelinesConsumer {
  constructor(
    private readonly jobs: Jobs,
    private readonly todos: PipelineTodos,
  ) {}

  @Consume(pipelineChanged, { effect: 'copy-pipelines' })
  async changed({ tx, events }: EffectBatch<typeof pipelineChanged>): Promise<void> {
    for (const event of events) {
      const { data } = event;
      const [stored] = await tx.run(storePipeline, {
        ...{ id: data.pipeline_id, project: data.project_id, iid: data.iid, sha: data.sha, ref: data.ref },
        ...{ is_tag: data.is_tag, source: data.source, status: data.status, user: data.user_id },
        ...{ coverage: data.coverage, duration: data.duration, committed: data.committed_at },
        ...{ started: data.started_at, finished: data.finished_at, created: data.created_at, updated: data.updated_at },
      });
      if (stored) await this.todos.followPipeline(tx, event, stored.before);
      if (!ACTIVE_STATUSES.includes(data.status))
        await this.jobs.enqueue(tx, mergeAutomatically, { project_id: data.project_id });
    }
  }

  @Consume(pipelineDeleted, { effect: 'copy-pipelines' })
  async deleted({ tx, events }: EffectBatch<typeof pipelineDeleted>): Promise<void> {
    for (const { data } of events) await tx.run(markDeleted, { id: data.pipeline_id, project: data.project_id });
  }
}
