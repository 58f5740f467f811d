import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Invalid, MethodNotAllowed, NotFound } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { CollaborationClient } from './collaboration-client';
import { PipelineRows } from './pipeline-rows';
import type { PipelineSource } from './pipeline-statuses';
import { checkArguments } from './pipeline-variables';
import type { PipelineArguments } from './pipeline-variables';
import { toProjectPipelineRow } from './pipelines.queries';
import type { PipelineRow } from './pipelines.queries';

/** A request to start a pipeline on a branch or tag. */
export interface PipelineStart extends PipelineArguments {
  readonly ref: string;
  readonly source: PipelineSource;
  readonly userId: number;
  readonly upstreamJobId?: number;
  /** Rechecks the permissions, because finding the commit takes time. Errors: those that refuse the start. */
  readonly recheck?: () => Promise<void>;
  /** Further writes of the same transaction. */
  readonly also?: (tx: Tx) => Promise<void>;
}

/** Starts pipelines. Source: reference identity-and-import 7.2, 7.3; reference repositories 8.16. */
@Injectable()
export class PipelineStarts {
  constructor(
    private readonly work: Work,
    private readonly rows: PipelineRows,
    private readonly collaboration: CollaborationClient,
  ) {}

  /** Errors: Invalid under `base` for a ref that does not exist, and for invalid variables and inputs; Unavailable. */
  async startPipeline(project: Pick<ProjectScope, 'id' | 'fullPath'>, start: PipelineStart): Promise<PipelineRow> {
    checkArguments(start);
    const commit = await this.collaboration.resolveRef({ project_id: project.id, name: start.ref });
    if (!commit || commit.ref === null) throw new Invalid({ base: ['Reference not found'] });
    const { sha, ref, is_tag: isTag, committed_at: committedAt } = commit;
    const { source, userId, upstreamJobId, variables, inputs } = start;
    await start.recheck?.();
    const row = await this.work.run(async (tx) => {
      const made = await this.rows.createPipeline(tx, {
        ...{ projectId: project.id, sha, ref, isTag, committedAt, source, userId },
        ...(upstreamJobId === undefined ? {} : { upstreamJobId }),
        arguments: { variables, inputs },
      });
      await start.also?.(tx);
      return made;
    });
    return toProjectPipelineRow(row, project);
  }

  /**
   * Starts a pipeline on the head of a merge request. Errors: NotFound; MethodNotAllowed if the merge request is not open or has no
   * commits or no source branch; Unavailable.
   */
  async startForMergeRequest(
    project: Pick<ProjectScope, 'id' | 'fullPath'>,
    iid: number,
    userId: number,
  ): Promise<PipelineRow> {
    const { is_found: isFound, head } = await this.collaboration.findHead({ project_id: project.id, iid });
    if (!isFound) throw new NotFound();
    if (!head) throw new MethodNotAllowed();
    const commit = {
      sha: head.sha,
      committedAt: head.committed_at,
      ref: `refs/merge-requests/${iid}/head`,
      isTag: false,
    };
    const row = await this.work.run((tx) =>
      this.rows.createPipeline(tx, { projectId: project.id, userId, ...commit, source: 'merge_request_event' }),
    );
    return toProjectPipelineRow(row, project);
  }
}
