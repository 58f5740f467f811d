import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import { CollaborationClient } from '../pipelines/collaboration-client';
import { CommitStatusesQueries } from './commit-statuses.queries';

/** A commit that collaboration has found, with the ref of a pipeline that has to be created. */
export interface StatusCommit {
  readonly sha: string;
  readonly committedAt: string;
  /** Null: no ref was named, and no branch contains the commit. */
  readonly ref: string | null;
  readonly isTag: boolean;
}

const FULL_ID = /^[0-9a-f]{40}$/;

/** Finds commits for statuses. A commit with a pipeline is known without a question to collaboration. */
@Injectable()
export class StatusCommits {
  constructor(
    private readonly queries: CommitStatusesQueries,
    private readonly collaboration: CollaborationClient,
  ) {}

  /** Returns the full id of a commit. Errors: NotFound for the commit; Unavailable. */
  async findCommitId(project: number, sha: string): Promise<string> {
    if (FULL_ID.test(sha) && (await this.queries.isKnown(project, sha))) return sha;
    const commit = await this.collaboration.resolveRef({ project_id: project, name: sha });
    if (!commit) throw new NotFound('Commit');
    return commit.sha;
  }

  /**
   * Finds a commit with the ref for a new pipeline: the named ref, or else the first branch with the commit.
   * Errors: NotFound for the commit; Unavailable.
   */
  async findCommit(project: number, sha: string, ref: string | null): Promise<StatusCommit> {
    const [commit, named] = await Promise.all([
      this.collaboration.resolveRef({
        project_id: project,
        name: sha,
        ...(ref === null ? { finds_branch: true } : {}),
      }),
      ref === null ? null : this.collaboration.resolveRef({ project_id: project, name: ref }),
    ]);
    if (!commit) throw new NotFound('Commit');
    return {
      sha: commit.sha,
      committedAt: commit.committed_at,
      ref: ref ?? commit.branch,
      isTag: named?.is_tag ?? false,
    };
  }
}
