import { Injectable } from '@nestjs/common';
import { listRefs, NO_OBJECT, readHead, readRef } from '@rookery/git';
import type { RefUpdate, Repository } from '@rookery/git';
import { Refused } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { RefProtections } from '../../protected-refs/ref-protections';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { MAX_PUSHED_REFS } from '../../repositories/ref-updates/ref-rules';
import { RefChanges } from '../../repositories/ref-updates/ref-changes';
import type { BranchWriter } from './branch-changes';
import { BRANCHES } from './branches';

const selectMergeRequestBranches = statement<{ projectId: number }, { branch: string }>(
  'branches_of_open_requests',
  `select source_branch as branch from merge_requests
   where source_project_id = :projectId::bigint and state = 'opened'
   union
   select target_branch from merge_requests where project_id = :projectId::bigint and state = 'opened'`,
);

/** Branches may move while merged ones are deleted; then the deletion looks again. */
const MAX_ATTEMPTS = 3;

/** Deletes branches that the default branch contains. Source: reference repositories 5.3. */
@Injectable()
export class MergedBranches {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly changes: RefChanges,
    private readonly protections: RefProtections,
    private readonly database: Database,
  ) {}

  /**
   * Deletes merged branches, except protected ones and those of open merge requests. Bounds: 5,000 branches.
   * Errors: Refused.
   */
  removeMerged(writer: BranchWriter): Promise<void> {
    return this.repositories.useRepository(writer.project, async (repository) => {
      const access = await this.protections.readAccess(writer);
      const requests = await this.database.run(selectMergeRequestBranches, { projectId: writer.project.id });
      const kept = new Set(requests.map(({ branch }) => branch));
      const isKept = (name: string): boolean => kept.has(name) || access.branchAccess(name).isProtected;
      const write = (view: Repository) => planMergedBranchDeletions(view, isKept);
      for (let attempt = 1; ; attempt++) {
        const outcome = await this.changes.changeRefs(repository, { ...writer, write });
        if (outcome.moved) return;
        if (outcome.why === null || attempt === MAX_ATTEMPTS) throw new Refused(outcome.refusal, { verbatim: true });
      }
    });
  }
}

async function planMergedBranchDeletions(view: Repository, isKept: (name: string) => boolean): Promise<RefUpdate[]> {
  const head = await readHead(view);
  const tip = await readRef(view, head);
  if (tip === null) return [];
  const merged = await listRefs(view, { under: ['refs/heads'], mergedInto: tip });
  return merged
    .filter(({ name }) => name !== head && !isKept(name.slice(BRANCHES.length)))
    .slice(0, MAX_PUSHED_REFS)
    .map(({ name, id }) => ({ ref: name, oldId: id, newId: NO_OBJECT }));
}
