import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { ProjectFacts } from '@rookery/directory';
import {
  forkRepository,
  hashedRepositoryPath,
  isValidBranchOrTagName,
  readHead,
  readRef,
  Repositories,
} from '@rookery/git';
import type { Repository } from '@rookery/git';
import { Jobs } from '@rookery/jobs';
import { statement, Work } from '@rookery/persistence';
import { runWithoutDeadline } from '@rookery/platform';
import { ProtectedBranches } from '../../protected-refs/protected-branches';
import { measureRepository } from '../measure-repository';
import { STORAGE } from '../repository-rows';
import type { RepositoryRow } from '../repository-rows';

const BRANCHES = 'refs/heads/';

const selectStorages = statement<{ id: number }, { readonly storage: string }>(
  'repositories_storage_of_source',
  `select storage from repositories where project_id = :id::bigint
   union all select storage from removed_repositories where project_id = :id::bigint limit 1`,
);
/** Returns a row for the call that ends the copy. */
const markCopied = statement<{ id: number; protects: boolean }, { readonly projectId: number }>(
  'repositories_copied',
  `update repositories set copies_project_id = null, copies_branch = null, is_default_protected = :protects::boolean
   where project_id = :id::bigint and copies_project_id is not null returning project_id as "projectId"`,
);

/**
 * Copies repositories of forks. The copy is whole and has its own objects, so that neither project depends on the other.
 * Source: reference repositories 1.10.
 */
@Injectable()
export class ForkCopies {
  private readonly running = new Map<number, Promise<Repository>>();

  constructor(
    private readonly repositories: Repositories,
    private readonly work: Work,
    private readonly jobs: Jobs,
    private readonly directory: Directory,
    private readonly protectedBranches: ProtectedBranches,
  ) {}

  /**
   * Copies the repository that a row names, once for concurrent callers. `openSource` opens the repository of an
   * existing project. Errors: GitError.
   */
  copyRepository(
    projectId: number,
    row: RepositoryRow,
    openSource: (source: ProjectFacts) => Promise<Repository>,
  ): Promise<Repository> {
    const before = this.running.get(projectId);
    if (before) return before;
    const running = runWithoutDeadline(() => this.copyForkRepository(projectId, row, openSource)).finally(() =>
      this.running.delete(projectId),
    );
    this.running.set(projectId, running);
    return running;
  }

  private async copyForkRepository(
    projectId: number,
    row: RepositoryRow,
    openSource: (source: ProjectFacts) => Promise<Repository>,
  ): Promise<Repository> {
    const target = { storage: row.storage, path: hashedRepositoryPath(projectId) };
    const sourceId = row.copiesProjectId!;
    const source = (await this.directory.findProjects([sourceId])).get(sourceId);
    // The source may be deleted, and may be a fork that is not copied yet.
    if (source) await openSource(source);
    const [place] = await this.work.run((tx) => tx.run(selectStorages, { id: sourceId }));
    const from = { storage: place?.storage ?? STORAGE, path: hashedRepositoryPath(sourceId) };
    const { copiesBranch: branch } = row;
    // Forks from before forks had repositories name an empty branch, and copy nothing.
    const isFit = branch === null || isValidBranchOrTagName(branch);
    const repository =
      isFit && (await this.repositories.exists(from))
        ? await forkRepository(this.repositories, from, target, branch === null ? {} : { branch })
        : await this.repositories.create(target, { defaultBranch: 'main' });
    await this.finishCopy(projectId, repository);
    return repository;
  }

  /** The default branch of a fork is protected as after a first push. */
  private async finishCopy(projectId: number, repository: Repository): Promise<void> {
    const head = await readHead(repository);
    const hasBranch = (await readRef(repository, head)) !== null;
    await this.work.run(async (tx) => {
      const [ended] = await tx.run(markCopied, { id: projectId, protects: hasBranch });
      if (!ended) return;
      if (hasBranch) await this.protectedBranches.protectDefault(tx, projectId, head.slice(BRANCHES.length));
      await this.jobs.enqueue(tx, measureRepository, { project_id: projectId });
    });
  }
}
