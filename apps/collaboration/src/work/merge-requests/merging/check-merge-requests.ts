import { Injectable } from '@nestjs/common';
import { int, object } from '@rookery/contracts';
import { defineJob, Jobs } from '@rookery/jobs';
import { statement } from '@rookery/persistence';
import { RefUpdateEffects } from '../../../code/repositories/ref-updates/ref-update-effects';
import type {
  PreparedEffect,
  RefUpdateEffect,
  SettledUpdates,
} from '../../../code/repositories/ref-updates/ref-update-effects';
import { mapBranchUpdatesByName } from '../versions/affected-merge-requests';

/** Checks open merge requests of a project whose branches a push has moved. */
export const checkMergeRequests = defineJob('check-merge-requests', object({ project_id: int }), {
  key: ({ project_id: id }) => String(id),
});

/** Projects with open merge requests from or into branches of a project. */
const projectsOf = statement<{ project: number; branches: readonly string[] }, { readonly project_id: number }>(
  'merge_requests_projects_to_check',
  `select s.project_id from merge_requests s
   where s.source_project_id = :project::bigint and s.source_branch = any(:branches::text[]) and s.state = 'opened'
   union select t.project_id from merge_requests t
   where t.project_id = :project::bigint and t.target_branch = any(:branches::text[]) and t.state = 'opened'
   order by project_id`,
);

/** Requests merge checks after a push, so that people learn of conflicts. Source: reference work-tracking 6.3. */
@Injectable()
export class MergeChecksAfterPushEffect implements RefUpdateEffect {
  constructor(
    effects: RefUpdateEffects,
    private readonly jobs: Jobs,
  ) {
    effects.declare(this, 'last');
  }

  prepare({ projectId: project, updates }: SettledUpdates): Promise<PreparedEffect | null> {
    const branches = [...mapBranchUpdatesByName(updates).keys()];
    if (branches.length === 0) return Promise.resolve(null);
    return Promise.resolve({
      write: async (tx) => {
        for (const { project_id } of await tx.run(projectsOf, { project, branches }))
          await this.jobs.enqueue(tx, checkMergeRequests, { project_id });
      },
    });
  }
}
