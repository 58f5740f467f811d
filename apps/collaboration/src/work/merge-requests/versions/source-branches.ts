import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory, mayReadCode } from '@rookery/directory';
import { fetchCommit, objectInfo, readRef } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { branchRef, readTips } from './measure-version';
import type { BranchTips } from './measure-version';

/** Branches of a merge request with their projects. `sourceProjectId` is null if the fork was deleted. */
export interface RequestBranches {
  readonly projectId: number;
  readonly sourceProjectId: number | null;
  readonly sourceBranch: string;
  readonly targetBranch: string;
}

/** Source branches, which may be in a fork of the target's project. Source: reference repositories 8.18. */
@Injectable()
export class SourceBranches {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly directory: Directory,
  ) {}

  /**
   * Reads the tips of both branches. The tip of a fork's branch is copied into the repository of the target, which then
   * has all commits of the merge request. If `copies` is false, a tip that the target lacks counts as missing.
   * Errors: GitError.
   */
  async readTips(target: Repository, branches: RequestBranches, { copies = true } = {}): Promise<BranchTips> {
    const { projectId, sourceProjectId, sourceBranch, targetBranch } = branches;
    if (sourceProjectId === projectId) return readTips(target, branches);
    const origin = sourceProjectId === null ? null : await this.repositories.findRepository(sourceProjectId);
    const source = origin && (await readRef(origin, branchRef(sourceBranch)));
    if (origin && source !== null && copies) await copyCommit(target, origin, source);
    const isThere = source !== null && (copies || (await objectInfo(target, { rev: source })) !== null);
    return { source: isThere ? source : null, target: await readRef(target, branchRef(targetBranch)) };
  }

  /** Whether the viewer reads the code of the source, so that new commits may be shown to them in the target. */
  async mayReadSource(viewer: Viewer, target: ProjectScope, sourceProjectId: number | null): Promise<boolean> {
    const source = await this.findProject(viewer, target, sourceProjectId);
    return source !== null && mayReadCode(viewer, source);
  }

  /**
   * Opens the repository of a target that a push to a fork concerns. Returns null if the project has none any more, or
   * takes no writes.
   */
  async openTarget(projectId: number): Promise<Repository | null> {
    const project = (await this.directory.findProjects([projectId])).get(projectId);
    return project && !project.archived ? this.repositories.findRepository(projectId) : null;
  }

  /** Returns the project of the source, with the level of the viewer; null if they do not see it, or if it was deleted. */
  async findProject(
    viewer: Viewer,
    target: ProjectScope,
    sourceProjectId: number | null,
  ): Promise<ProjectScope | null> {
    if (sourceProjectId === target.id) return target;
    return sourceProjectId === null ? null : this.directory.findProject(sourceProjectId, viewer);
  }
}

/** Copies a commit of another repository, unless a write sees it already. */
export async function copyCommit(repository: Repository, origin: Repository, id: ObjectId): Promise<void> {
  if (repository.quarantine && (await objectInfo(repository, { rev: id })) !== null) return;
  await fetchCommit(repository, origin, id);
}
