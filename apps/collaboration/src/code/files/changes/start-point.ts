import {
  fetchCommit,
  isObjectId,
  isRefName,
  isValidBranchOrTagName,
  listRefs,
  NO_OBJECT,
  readRef,
  resolveCommit,
} from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { Refused } from '@rookery/kernel';
import type { CommitRequest } from './file-action';

/** Commit on which a new commit builds, and the value that its branch must still have. */
export interface StartPoint {
  /** Null in an empty repository. */
  readonly base: ObjectId | null;
  readonly ref: string;
  readonly oldId: ObjectId;
}

const branchRef = (name: string): string => `refs/heads/${name}`;

/**
 * Finds the start of a new commit, and checks that its branch may be created or moved. `origin` is the repository of
 * the start if that is another one. The start is then copied from there.
 * Errors: Refused, with the documented text. Source: reference repositories 3.7.
 */
export async function findStart(
  repository: Repository,
  { branch, startBranch = branch, startSha, isForced }: CommitRequest,
  origin: Repository | null,
): Promise<StartPoint> {
  const oldId = await findBranchTip(repository, branch);
  const from = origin ?? repository;
  const base =
    startSha === undefined ? await findBranchTip(from, startBranch) : await requireStartCommit(from, startSha);
  const isEmpty = base === null && (await listRefs(repository, { under: ['refs/heads'], max: 1 })).length === 0;
  if (base === null && !isEmpty)
    throw createVerbatimRefusal('You can only create or edit files when you are on a branch');
  const isOther = startSha !== undefined || startBranch !== branch || origin !== null;
  if (isOther && oldId !== null && !isForced)
    throw createVerbatimRefusal(
      `A branch called '${branch}' already exists. Switch to that branch in order to make changes`,
    );
  if ((isOther || isEmpty) && !isValidBranchOrTagName(branch))
    throw createVerbatimRefusal(
      `Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`,
    );
  if (origin !== null && base !== null) await fetchCommit(repository, origin, base);
  return { base, ref: branchRef(branch), oldId: oldId ?? NO_OBJECT };
}

async function findBranchTip(repository: Repository, name: string): Promise<ObjectId | null> {
  return isRefName(branchRef(name)) ? readRef(repository, branchRef(name)) : null;
}

async function requireStartCommit(repository: Repository, sha: string): Promise<ObjectId> {
  if (!isObjectId(sha)) throw createVerbatimRefusal(`Invalid start_sha '${sha}'`);
  const commit = await resolveCommit(repository, sha);
  if (commit === null) throw createVerbatimRefusal(`Cannot find start_sha '${sha}'`);
  return commit;
}

function createVerbatimRefusal(text: string): Refused {
  return new Refused(text, { verbatim: true });
}
