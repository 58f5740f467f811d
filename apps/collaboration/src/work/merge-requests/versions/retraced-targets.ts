import { isAncestor, listCommitIds, listRefs, NO_OBJECT, readCommits } from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';

/** More pushed commits than this are not looked at one by one. */
const MAX_COMMITS = 10_000;
const FEW_COMMITS = 200;
/** A push looks at this many merge requests into a branch at most; a forced push of a busy branch would take minutes. */
const MAX_RETRACED = 50;
const MAX_ROOTS = 5;

/** Facts about a push to a target branch, for the merge requests into it. */
export interface TargetPush {
  /** Commits that came to the branch. */
  readonly pushed: ReadonlySet<ObjectId>;
  readonly isForced: boolean;
  /** Whether a merge request may have another merge base now. */
  mayMove(iid: number): boolean;
}

const NOTHING: TargetPush = { pushed: new Set(), isForced: false, mayMove: () => false };

/**
 * Reads a push to a target branch. The merge base of a request moves only if pushed commits belong to it, or after a
 * forced push. `iids` are the open merge requests into the branch, the newest first.
 */
export async function readTargetPush(
  repository: Repository,
  { oldId, newId }: RefUpdate,
  iids: readonly number[],
): Promise<TargetPush> {
  if (oldId === NO_OBJECT || newId === NO_OBJECT || iids.length === 0) return NOTHING;
  const selection = { from: [newId], notFrom: [oldId], skip: 0, max: MAX_COMMITS };
  const pushed = await listCommitIds(repository, selection);
  const isForced = !(await isAncestor(repository, oldId, newId));
  const newest = new Set(iids.slice(0, MAX_RETRACED));
  if (isForced || pushed.length > FEW_COMMITS)
    return { pushed: new Set(pushed), isForced, mayMove: (iid) => newest.has(iid) };
  const holding = await findIidsOfMergeRequestsContaining(repository, pushed);
  return { pushed: new Set(pushed), isForced, mayMove: (iid) => newest.has(iid) && holding.has(iid) };
}

/** Numbers of merge requests whose head contains a commit of a push: one of its oldest commits, then. */
async function findIidsOfMergeRequestsContaining(
  repository: Repository,
  pushed: readonly ObjectId[],
): Promise<ReadonlySet<number>> {
  const among = new Set(pushed);
  const commits = await readCommits(repository, pushed);
  const roots = commits.filter(({ parents }) => !parents.some((parent) => among.has(parent)));
  const found = new Set<number>();
  for (const { id } of roots.slice(0, MAX_ROOTS))
    for (const { name } of await listRefs(repository, { under: ['refs/merge-requests'], contains: id })) {
      const iid = /^refs\/merge-requests\/(\d+)\/head$/.exec(name)?.[1];
      if (iid !== undefined) found.add(Number(iid));
    }
  return found;
}
