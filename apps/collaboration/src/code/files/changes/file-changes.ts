import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { parseCommit, readCommits, readCommitLineCounts, readObject, writeCommit } from '@rookery/git';
import type { Commit, LineCounts, ObjectId, RefUpdate, Repository } from '@rookery/git';
import { Forbidden, Refused } from '@rookery/kernel';
import type { RookeryError, SignedInViewer } from '@rookery/kernel';
import { CommitIdentities } from '../../repositories/commit-identities';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { RefProtections } from '../../protected-refs/ref-protections';
import { RefChanges } from '../../repositories/ref-updates/ref-changes';
import { FileFinder } from '../contents/file-finder';
import { applyActions } from './apply-actions';
import { changedPathOf } from './file-action';
import type { CommitRequest, FileAction } from './file-action';
import { findStart } from './start-point';

/** Texts of a route where they differ. */
export interface ChangeRefusals {
  /** Refusal for a file that changed since the caller read it. */
  stale(action: FileAction): Refused;
  /** Refusal for a protected branch. */
  protectedBranch(): RookeryError;
}

interface CommitWriteOptions {
  readonly viewer: SignedInViewer;
  readonly request: CommitRequest;
  readonly refusals: ChangeRefusals;
  readonly base: ObjectId | null;
}

const NOT_PUSHED = 'You are not allowed to push into this branch';
/** Rule of pushes whose refusal has another text for files. */
const IS_PROTECTED = /^You are not allowed to (?:push code to|create) protected branches/;
const NO_LINES: LineCounts = { additions: 0, deletions: 0 };
const MAX_COMMIT_BYTES = 10 * 1024 * 1024;

/** Refusals of the routes of single files. Source: reference repositories 3.6. */
export const FILE_REFUSALS: ChangeRefusals = {
  stale: ({ kind }) =>
    new Refused(
      kind === 'delete'
        ? 'You are attempting to delete a file that has been previously updated.'
        : 'You are attempting to update a file that has changed since you started editing it.',
      { verbatim: true },
    ),
  protectedBranch: () => new Refused(NOT_PUSHED, { verbatim: true }),
};

/** Refusals of commits with several actions. Source: reference repositories 3.7. */
export const COMMIT_REFUSALS: ChangeRefusals = {
  stale: (action) =>
    new Refused(`The file has changed since you started editing it: ${changedPathOf(action)}`, { verbatim: true }),
  protectedBranch: () => new Forbidden(NOT_PUSHED),
};

/** Writes commits that change files, without a working copy. All of a commit happens or nothing. */
@Injectable()
export class FileChanges {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly refs: RefChanges,
    private readonly identities: CommitIdentities,
    private readonly files: FileFinder,
    private readonly protections: RefProtections,
  ) {}

  /**
   * Writes a commit and moves its branch. Returns the commit, with numbers of lines if `hasStats` is set.
   * Errors: Refused; the refusal for a protected branch; TooLarge; those of `RefChanges`.
   */
  commit(
    project: ProjectScope,
    viewer: SignedInViewer,
    request: CommitRequest,
    { refusals, hasStats = false }: { readonly refusals: ChangeRefusals; readonly hasStats?: boolean },
  ): Promise<{ readonly commit: Commit; readonly stats: LineCounts | null }> {
    return this.repositories.useRepository(project, async (repository) => {
      const { mayPush } = (await this.protections.readAccess({ project, viewer })).branchAccess(request.branch);
      // Clients try again after they have unprotected the branch, so this refusal comes before all others.
      if (!mayPush) throw refusals.protectedBranch();
      const written: ObjectId[] = [];
      let isFirst = false;
      const origin = request.startProject ? await this.repositories.openRepository(request.startProject) : null;
      const write = async (view: Repository): Promise<readonly RefUpdate[]> => {
        const start = await findStart(view, request, origin);
        isFirst = start.base === null;
        const newId = await this.writeCommit(view, { viewer, request, refusals, base: start.base });
        written.push(newId);
        return [{ ref: start.ref, oldId: start.oldId, newId }];
      };
      const outcome = await this.refs.changeRefs(repository, { project, viewer, write });
      if (!outcome.moved) {
        // The first branch of a repository is for maintainers, whatever its name.
        const isOfBranch = outcome.why === null && (isFirst || IS_PROTECTED.test(outcome.refusal));
        throw isOfBranch ? refusals.protectedBranch() : new Refused(outcome.refusal, { verbatim: true });
      }
      const [commit] = await readCommits(repository, written);
      const stats = hasStats ? ((await readCommitLineCounts(repository, written)).get(commit!.id) ?? NO_LINES) : null;
      return { commit: commit!, stats };
    });
  }

  /** Writes the objects of a commit. Returns its id. */
  private async writeCommit(
    view: Repository,
    { viewer, request, refusals, base }: CommitWriteOptions,
  ): Promise<ObjectId> {
    if (base !== null) await this.refuseStaleActions(view, base, request.actions, refusals);
    const tree = await applyActions(view, base === null ? null : await readTreeId(view, base), request.actions);
    const committer = await this.identities.findIdentity(viewer);
    const author = request.author === null ? committer : { ...committer, ...request.author };
    const parents = base === null ? [] : [base];
    return writeCommit(view, { tree, parents, message: request.message, author, committer });
  }

  /** Refuses changes of files that other commits changed since the caller read them. */
  private async refuseStaleActions(
    view: Repository,
    base: ObjectId,
    actions: readonly FileAction[],
    refusals: ChangeRefusals,
  ): Promise<void> {
    for (const action of actions) {
      if (action.lastCommitId === undefined || action.kind === 'create') continue;
      const last = await this.files.lastChangeOf(view, base, changedPathOf(action));
      if (last !== null && last !== action.lastCommitId) throw refusals.stale(action);
    }
  }
}

async function readTreeId(view: Repository, commit: ObjectId): Promise<ObjectId> {
  const object = await readObject(view, { rev: commit }, MAX_COMMIT_BYTES);
  return parseCommit(commit, object!.content).tree;
}
