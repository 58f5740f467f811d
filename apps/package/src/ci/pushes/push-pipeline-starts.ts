import { Injectable } from '@nestjs/common';
import type { PushedPipelines } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Unavailable } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import { CollaborationClient } from '../pipelines/collaboration-client';
import { PipelineRows } from '../pipelines/pipeline-rows';
import type { PipelineArguments } from '../pipelines/pipeline-variables';

/** Serializes the starts of one push. */
const LOCK_PUSH = statement<{ push: string }, never>(
  'push_pipelines_lock',
  `select pg_advisory_xact_lock(hashtextextended('push ' || :push, 0))`,
);
const STARTED = statement<{ push: number }, { ref: string; is_tag: boolean }>(
  'push_pipelines_started',
  'select ref, is_tag from pipelines where push_id = :push::bigint',
);

/** Starts the pipelines of pushes. Source: reference identity-and-import 7.6. */
@Injectable()
export class PushPipelineStarts {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly collaboration: CollaborationClient,
    private readonly rows: PipelineRows,
  ) {}

  /**
   * Starts the pipelines of a push that do not exist yet. Returns their number. Errors: Unavailable if collaboration
   * does not answer, or if this service does not know the project yet.
   */
  async startPipelines(pushId: number): Promise<number> {
    const pushed = await this.collaboration.pipelinesOfPush(pushId);
    const { project_id: projectId, user_id: userId } = pushed;
    if (projectId === null || userId === null || pushed.refs.length === 0) return 0;
    const count = await this.startMissingPipelines(pushId, pushed, { projectId, userId });
    // After a failure the job tries again: the pipelines exist then, and only this is repeated.
    if (pushed.variables.length > 0) await this.collaboration.reportStoredVariables(pushId);
    return count;
  }

  private async startMissingPipelines(
    pushId: number,
    pushed: PushedPipelines,
    { projectId, userId }: { readonly projectId: number; readonly userId: number },
  ): Promise<number> {
    // Collaboration has the project still, so a copy of the directory without it is behind. The job tries again.
    if (!(await this.directory.findProjects([projectId])).has(projectId)) throw new Unavailable('directory behind');
    return this.work.run(async (tx) => {
      await tx.run(LOCK_PUSH, { push: String(pushId) });
      const started = new Set((await tx.run(STARTED, { push: pushId })).map(refKey));
      const missing = pushed.refs.filter((ref) => !started.has(refKey(ref)));
      for (const { sha, ref, is_tag: isTag, committed_at: committedAt } of missing) {
        const commit = { sha, ref, isTag, committedAt };
        await this.rows.createPipeline(tx, {
          ...{ projectId, userId, ...commit, source: 'push', pushId, arguments: toPipelineArguments(pushed) },
        });
      }
      return missing.length;
    });
  }
}

function refKey({ ref, is_tag: isTag }: { readonly ref: string; readonly is_tag: boolean }): string {
  return `${isTag ? 'tag' : 'branch'} ${ref}`;
}

function toPipelineArguments({ variables, inputs }: PushedPipelines): PipelineArguments {
  return { variables: variables.map((variable) => ({ ...variable, variable_type: 'env_var' })), inputs };
}
