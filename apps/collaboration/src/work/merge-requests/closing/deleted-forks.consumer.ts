import { Controller } from '@nestjs/common';
import { projectDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { statement } from '@rookery/persistence';
import { MergeRequestClosingService } from '../merging/merge-request-closing.service';
import type { AffectedRow } from '../versions/affected-merge-requests';

/** Locks merge requests from deleted forks into other projects. */
const fromForks = statement<{ projects: readonly number[] }, AffectedRow & { readonly at: Date }>(
  'merge_requests_from_deleted_forks',
  `select i.id, i.iid, i.state, i.closed_at, i.project_id, i.source_project_id, i.author_id, i.created_at, i.source_branch, i.target_branch,
     i.head_sha, i.base_sha, i.auto_merge_user_id, i.merge_intent, true as is_source, false as is_target, now() as at
   from merge_requests i where i.source_project_id = any(:projects::bigint[]) and i.project_id <> all(:projects::bigint[])
   order by i.id for no key update`,
);
const detach = statement<{ ids: readonly number[] }, never>(
  'merge_requests_detach_forks',
  'update merge_requests set source_project_id = null where id = any(:ids::bigint[])',
);

/** Closes merge requests whose fork was deleted. Their commits stay in the target. Source: reference repositories 8.18. */
@Controller()
export class DeletedForkMergeRequestsConsumer {
  constructor(
    private readonly directory: Directory,
    private readonly closing: MergeRequestClosingService,
  ) {}

  @Consume(projectDeleted, { effect: 'close-merge-requests-of-forks' })
  async close({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const projects = events.map(({ data }) => data.project_id);
    await this.directory.assertDeleted(tx, 'project', events, projects);
    const rows = await tx.run(fromForks, { projects });
    for (const row of rows) {
      if (row.state !== 'opened') continue;
      const event = events.find(({ data }) => data.project_id === row.source_project_id);
      const actorId = event?.actorId ?? row.author_id;
      await this.closing.closeMergeRequest(tx, row, { actorId, at: row.at, pushedAt: row.at, defaultBranch: null });
    }
    await tx.run(detach, { ids: rows.map(({ id }) => id) });
  }
}
