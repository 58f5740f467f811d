import { isObjectId, isRefName, isShortRefName, listRefs, NO_OBJECT, readRefs, resolveCommit } from '@rookery/git';
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
 * Finds the start of a new commit, and checks that its branch may be created or moved.
 * Errors: Refused, with the documented text. Source: reference repositories 3.7.
 */
export async function findStart(
  repository: Repository,
  { branch, startBranch = branch, startSha, force }: CommitRequest,
): Promise<StartPoint> {
  const names = [branch, startBranch].map(branchRef).filter(isRefName);
  const refs = await readRefs(repository, [...new Set(names)]);
  const oldId = refs.get(branchRef(branch)) ?? null;
  const base =
    startSha === undefined ? (refs.get(branchRef(startBranch)) ?? null) : await commitAt(repository, startSha);
  const isEmpty = base === null && (await listRefs(repository, { under: ['refs/heads'], max: 1 })).length === 0;
  if (base === null && !isEmpty) throw refused('You can only create or edit files when you are on a branch');
  const isOther = startSha !== undefined || startBranch !== branch;
  if (isOther && oldId !== null && !force)
    throw refused(`A branch called '${branch}' already exists. Switch to that branch in order to make changes`);
  if ((isOther || isEmpty) && !isShortRefName(branch))
    throw refused(`Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`);
  return { base, ref: branchRef(branch), oldId: oldId ?? NO_OBJECT };
}

async function commitAt(repository: Repository, sha: string): Promise<ObjectId> {
  if (!isObjectId(sha)) throw refused(`Invalid start_sha '${sha}'`);
  const commit = await resolveCommit(repository, sha);
  if (commit === null) throw refused(`Cannot find start_sha '${sha}'`);
  return commit;
}

function refused(text: string): Refused {
  return new Refused(text, { verbatim: true });
}
