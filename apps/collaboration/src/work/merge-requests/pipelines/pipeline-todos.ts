import { Injectable } from '@nestjs/common';
import type { PayloadOf, pipelineChanged } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { EventCause } from '@rookery/directory';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { TodoRecorder } from '../../../following/todos/todo-recorder';
import { ACTIVE_STATUSES, HEAD_PIPELINE_SQL } from './head-pipeline-sql';

interface PipelineChange extends EventCause {
  readonly id: string;
  readonly data: PayloadOf<typeof pipelineChanged>;
}

interface HeadPipelineParams {
  readonly pipeline: number;
  readonly project: number;
  readonly sha: string;
  readonly branch: string;
  readonly iid: number | null;
}
interface MergeRequestOfHead {
  readonly id: number;
  readonly project_id: number;
  readonly author_id: number;
  readonly auto_merge_user_id: number | null;
  /** Users with a pending to-do about a failed pipeline. */
  readonly notified: readonly number[];
}
/** Open merge requests whose head pipeline it is. */
const ofHead = statement<HeadPipelineParams, MergeRequestOfHead>(
  'merge_requests_of_head_pipeline',
  `select i.id, i.project_id, i.author_id, i.auto_merge_user_id, array(
     select t.user_id from todos t where t.project_id = i.project_id and t.target_id = i.id
       and t.target_type = 'MergeRequest' and t.action = 'build_failed' and t.state = 'pending') as notified
   from merge_requests i
   where i.head_sha = :sha and i.state = 'opened'
     and (i.source_project_id = :project::bigint and i.source_branch = :branch
       or i.project_id = :project::bigint and i.iid = :iid::bigint)
     and (select c.id ${HEAD_PIPELINE_SQL}) = :pipeline::bigint
   order by i.id`,
);

const OWN_REF = /^refs\/merge-requests\/(\d{1,9})\/head$/;

/** To-dos about failed pipelines of merge requests. Source: reference work-tracking 6.3, 6.4. */
@Injectable()
export class PipelineTodos {
  constructor(
    private readonly todos: TodoRecorder,
    private readonly directory: Directory,
  ) {}

  /**
   * Raises to-dos when the head pipeline fails, and completes them when it succeeds or is repeated. `before` is the
   * former status, or null for a new pipeline. The copy of the pipeline has its new status.
   */
  async followPipeline(tx: Tx, event: PipelineChange, before: string | null): Promise<void> {
    const { status } = event.data;
    if (status === before) return;
    const isRetried = before === 'failed' && ACTIVE_STATUSES.includes(status);
    if (status !== 'failed' && status !== 'success' && !isRetried) return;
    for (const row of await tx.run(ofHead, toHeadPipelineParams(event))) {
      if (status === 'failed') await this.raiseFailureTodos(tx, event, row);
      else await this.settlePipelineTodos(tx, event, row, isRetried);
    }
  }

  private async raiseFailureTodos(tx: Tx, event: PipelineChange, row: MergeRequestOfHead): Promise<void> {
    await this.directory.assertCurrentFor(tx, [event]);
    const cause = { eventId: event.id, action: 'build_failed', noteId: null, at: event.data.updated_at } as const;
    const target = { targetType: 'MergeRequest', targetId: row.id };
    const candidates = pipelineTodoRecipientIds(row).map((userId) => ({
      ...cause,
      ...target,
      userId,
      authorId: userId,
    }));
    await this.todos.raiseTodos(tx, candidates);
  }

  /**
   * Marks to-dos of this merge request as done: for a retried pipeline all of its author and automatic merger, for a successful
   * one the `build_failed` to-dos.
   */
  private async settlePipelineTodos(
    tx: Tx,
    event: PipelineChange,
    row: MergeRequestOfHead,
    isRetried: boolean,
  ): Promise<void> {
    const common = { projectId: row.project_id, targetType: 'MergeRequest', targetId: row.id, threadId: null };
    const action = isRetried ? null : ('build_failed' as const);
    const users = isRetried ? pipelineTodoRecipientIds(row) : row.notified;
    const settlements = users.map((userId) => ({ ...common, userId, action, at: event.data.updated_at }));
    await this.todos.settleTodos(tx, settlements);
  }
}

function toHeadPipelineParams({ data }: PipelineChange): HeadPipelineParams {
  const [, iid] = OWN_REF.exec(data.ref) ?? [];
  const commit = { project: data.project_id, sha: data.sha };
  return { ...commit, pipeline: data.pipeline_id, branch: data.ref, iid: iid === undefined ? null : Number(iid) };
}

/** The author, and the user of the automatic merge. */
function pipelineTodoRecipientIds({
  author_id: author,
  auto_merge_user_id: merger,
}: MergeRequestOfHead): readonly number[] {
  return [...new Set([author, ...(merger === null ? [] : [merger])])];
}
