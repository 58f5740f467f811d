import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { EMPTY_TREE, isRefName, mergeTreesOverBase, readCommits, readRef, writeCommit } from '@rookery/git';
import type { Commit, Identity, ObjectId, Repository } from '@rookery/git';
import { Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { RefProtections } from '../protected-refs/ref-protections';
import { CommitIdentities } from '../repositories/commit-identities';
import { ProjectRepositories } from '../repositories/project-repositories';
import { RefChanges } from '../repositories/ref-updates/ref-changes';
import { findCommit } from './commit-history';
import { extractTitle } from './commit-title';

/** Cherry-pick or revert of a commit. */
export interface CommitCopy {
  readonly action: 'cherry-pick' | 'revert';
  readonly sha: string;
  readonly branch: string;
  /** Replaces the message of a cherry-pick. */
  readonly message?: string;
  /** Reports whether the action would succeed, and changes nothing. */
  readonly isDryRun: boolean;
}

const FAILURE =
  "Can't perform this action automatically. It may have already been done, or a more recent commit may have updated " +
  'some of this content. Please perform this action locally.';

/** Applies the change of a commit, or its opposite, to a branch. Source: reference repositories 4.5. */
@Injectable()
export class CherryPicksAndReverts {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly changes: RefChanges,
    private readonly identities: CommitIdentities,
    private readonly protections: RefProtections,
  ) {}

  /**
   * Writes the new commit of the caller to the branch; null for a dry run.
   * Errors: Forbidden for a protected branch; NotFound; Refused, with a code for a change that cannot be applied.
   */
  async copyCommit(project: ProjectScope, viewer: SignedInViewer, copy: CommitCopy): Promise<Commit | null> {
    const access = await this.protections.readAccess({ project, viewer });
    if (!access.branchAccess(copy.branch).mayPush) throw new Forbidden('You are not allowed to push into this branch');
    return this.repositories.useRepository(project, async (repository) => {
      const commit = await findCommit(repository, copy.sha);
      const { ref, tip } = await requireBranchTip(repository, copy.branch);
      const author = await this.identities.findIdentity(viewer);
      let newId: ObjectId | null = null;
      const write = async (view: Repository) => {
        const tree = await mergeChangeIntoTree(view, copy, commit, tip);
        if (copy.isDryRun) return [];
        const message = composeCherryPickOrRevertMessage(copy, commit, author);
        newId = await writeCommit(view, { tree, parents: [tip.id], message, author, committer: author });
        return [{ ref, oldId: tip.id, newId }];
      };
      const outcome = await this.changes.changeRefs(repository, { project, viewer, write });
      if (!outcome.moved) throw new Refused(outcome.refusal, { verbatim: true });
      return newId === null ? null : ((await readCommits(repository, [newId]))[0] ?? null);
    });
  }
}

async function requireBranchTip(
  repository: Repository,
  name: string,
): Promise<{ readonly ref: string; readonly tip: Commit }> {
  const ref = `refs/heads/${name}`;
  const id = isRefName(ref) ? await readRef(repository, ref) : null;
  const [tip] = id === null ? [] : await readCommits(repository, [id]);
  if (!tip) throw new NotFound('Branch');
  return { ref, tip };
}

/** Merges the change into the tree of the branch. Errors: Refused. */
async function mergeChangeIntoTree(view: Repository, copy: CommitCopy, commit: Commit, tip: Commit): Promise<ObjectId> {
  // The change of a merge is the one that its first parent did not have.
  const [parent] = await readCommits(view, commit.parents.slice(0, 1));
  const [before, after] = [parent?.tree ?? EMPTY_TREE, commit.tree];
  const [base, theirs] = copy.action === 'revert' ? [after, before] : [before, after];
  const { tree, conflicts } = await mergeTreesOverBase(view, { base, ours: tip.tree, theirs });
  if (conflicts.length > 0) throw createCherryPickOrRevertRefusal(copy, 'conflict');
  if (tree === tip.tree) throw createCherryPickOrRevertRefusal(copy, 'empty');
  return tree;
}

function createCherryPickOrRevertRefusal({ action, isDryRun }: CommitCopy, code: 'conflict' | 'empty'): Refused {
  const dryRun = isDryRun ? { dry_run: 'error' } : {};
  return new Refused(`Commit ${action} failed: ${FAILURE}`, { more: { error_code: code, ...dryRun } });
}

function composeCherryPickOrRevertMessage({ action, message }: CommitCopy, commit: Commit, author: Identity): string {
  if (action === 'revert') return `Revert "${extractTitle(commit)}"\n\nThis reverts commit ${commit.id}`;
  if (message) return message;
  const { name, email } = commit.author;
  const isOwn = email.toLowerCase() === author.email.toLowerCase();
  const coAuthor = isOwn ? '' : `\n\nCo-authored-by: ${name} <${email}>`;
  return `${commit.message}\n\n(cherry picked from commit ${commit.id})${coAuthor}`;
}
