import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { hashedRepositoryPath, isValidBranchOrTagName, Repositories } from '@rookery/git';
import type { Repository } from '@rookery/git';
import { declareAttachedTable, Database, statement } from '@rookery/persistence';
import { runWithoutDeadline } from '@rookery/platform';
import { ForkCopies } from './forks/fork-copies';
import { FirstCommits } from './first-commits';
import type { StartedProject } from './first-commits';
import { convertGitFailures } from './git-failures';
import { FIRST_BRANCH } from './ref-updates/first-branch';
import { addRepository, toNewRepositoryParams, STORAGE, rowOfRepository } from './repository-rows';
import type { RepositoryRow } from './repository-rows';

/** Project facts that a new repository needs. */
export type RepositoryOwner = Pick<ProjectScope, 'id' | 'defaultBranch'> &
  Partial<StartedProject & Pick<ProjectScope, 'fork' | 'initializeWithReadme'>>;

const selectRemovedRepositories = statement<object, { project_id: number; storage: string }>(
  'repositories_removed',
  // A fork may still have to be copied from the folder.
  `select r.project_id, r.storage from removed_repositories r
   where not exists (select 1 from repositories c where c.copies_project_id = r.project_id)
   order by r.project_id limit 100`,
);
const deleteRemovedRepository = statement<{ projectId: number }, never>(
  'repositories_forget',
  'delete from removed_repositories where project_id = :projectId::bigint',
);
/** Moves rows of deleted projects to the list of folders to remove. */
const moveToRemovedRepositories = statement<{ ids: readonly number[] }, never>(
  'repositories_drop',
  `with gone as (delete from repositories where project_id = any(:ids::bigint[]) returning project_id, storage)
   insert into removed_repositories (project_id, storage) select project_id, storage from gone on conflict do nothing`,
);

/** A deleted project's row goes at once, the folder with the next sweep. */
export const attachedRepositories = declareAttachedTable({
  table: 'repositories',
  key: 'project_id',
  project: 'project_id',
  stays: {
    copies_project_id: 'the copy of the fork uses the folder of the deleted project, and then empties the column',
  },
  through: {
    async drop(tx, _kind, ids) {
      await tx.run(moveToRemovedRepositories, { ids });
    },
  },
});

export const attachedRemovals = declareAttachedTable({
  table: 'removed_repositories',
  key: 'project_id',
  project: { column: 'project_id', because: 'the row lives until a job has removed the folder of the deleted project' },
});

/** A push that runs longer than this has ended. */
const LONGEST_PUSH_MS = 2 * 3_600_000;

/**
 * Repositories of projects. The first request that needs a repository creates it; that of a fork is copied then.
 * Concurrent first requests create it once, because the folder appears by a rename. Source: ADR 0185.
 */
@Injectable()
export class ProjectRepositories {
  constructor(
    private readonly repositories: Repositories,
    private readonly database: Database,
    private readonly copies: ForkCopies,
    private readonly firstCommits: FirstCommits,
    private readonly directory: Directory,
  ) {}

  /** Opens the repository of a project, and creates it first if it does not exist. Errors: GitError. */
  async openRepository(project: RepositoryOwner): Promise<Repository> {
    const [kept] = await this.database.run(rowOfRepository, { projectId: project.id });
    // The row comes first, so that a folder never lacks the row that removes it with its project.
    const row = kept ?? (await this.addRepositoryRow(project));
    if (row.copiesProjectId !== null)
      return this.copies.copyRepository(project.id, row, (source) => this.openRepository(source));
    const named = project.defaultBranch;
    const defaultBranch = named !== null && isValidBranchOrTagName(named) ? named : FIRST_BRANCH;
    const address = { storage: row.storage, path: hashedRepositoryPath(project.id) };
    const repository = await this.repositories.create(address, { defaultBranch });
    // The commit has the rights of the creator and transactions of its own, whichever request comes first.
    if (row.needsReadme && hasFieldsForFirstCommit(project))
      await runWithoutDeadline(() => this.firstCommits.writeFirstCommit(repository, project));
    return repository;
  }

  /** Commits a row that needs a first commit at once, because the transaction of the request may still be open. */
  private async addRepositoryRow(project: RepositoryOwner): Promise<RepositoryRow> {
    const add = (): Promise<RepositoryRow[]> => this.database.run(addRepository, toNewRepositoryParams(project));
    const [row] = await (project.initializeWithReadme ? runWithoutDeadline(add) : add());
    return row!;
  }

  /**
   * Runs a step with the repository of a project, which is created first if it does not exist.
   * Errors: Unavailable if too many git processes run, TooLarge; those of the step.
   */
  useRepository<T>(project: RepositoryOwner, step: (repository: Repository) => Promise<T>): Promise<T> {
    return convertGitFailures(async () => step(await this.openRepository(project)));
  }

  /** Opens the repository of a project if it exists already, or has commits to begin with. */
  async findRepository(projectId: number): Promise<Repository | null> {
    const [row] = await this.database.run(rowOfRepository, { projectId });
    if (!row || row.needsReadme) return this.openUnusedRepository(projectId, row);
    if (row.copiesProjectId !== null)
      return this.copies.copyRepository(projectId, row, (source) => this.openRepository(source));
    return this.openExistingRepository(projectId, row);
  }

  /** Opens a repository that no request has used yet, if it has commits to begin with: those of a fork, or a README. */
  private async openUnusedRepository(projectId: number, row: RepositoryRow | undefined): Promise<Repository | null> {
    const project = await this.directory.findProjectForService(projectId);
    if (project !== null && (project.fork !== null || project.initializeWithReadme))
      return this.openRepository(project);
    return row ? this.openExistingRepository(projectId, row) : null;
  }

  private async openExistingRepository(projectId: number, { storage }: RepositoryRow): Promise<Repository | null> {
    const address = { storage, path: hashedRepositoryPath(projectId) };
    return (await this.repositories.exists(address)) ? this.repositories.open(address) : null;
  }

  /** Removes the folders of deleted projects. */
  async removeDeleted(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const rows = await this.database.run(selectRemovedRepositories, {});
      for (const { project_id: projectId, storage } of rows) {
        signal?.throwIfAborted();
        await this.repositories.remove({ storage, path: hashedRepositoryPath(projectId) });
        await this.database.run(deleteRemovedRepository, { projectId });
      }
      if (rows.length === 0) return;
    }
  }

  /** Removes folders that killed processes left unfinished. */
  async sweep(): Promise<void> {
    await this.repositories.sweep(STORAGE, LONGEST_PUSH_MS);
  }
}

function hasFieldsForFirstCommit(project: RepositoryOwner): project is RepositoryOwner & StartedProject {
  return project.name !== undefined && project.description !== undefined && project.creatorId !== undefined;
}
