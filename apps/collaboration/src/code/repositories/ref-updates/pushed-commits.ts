import { countCommits, isObjectId, NO_OBJECT, readRef, resolveCommit, readCommits } from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';

/** Facts about the commits of one ref update, as `push_data` shows them. */
export interface PushedCommits {
  readonly commitCount: number;
  /** First line of the newest commit; null for a deletion, or for a tag of something else than a commit. */
  readonly commitTitle: string | null;
}

const BRANCHES = 'refs/heads/';
const MAX_COUNT = 10_000;
/** Units: characters. Source: reference repositories 1.6. */
const MAX_TITLE = 70;
const NOTHING: PushedCommits = { commitCount: 0, commitTitle: null };

/**
 * Counts the pushed commits of an update: those after the old value; for a new branch those that the default branch
 * lacks; all of them for the default branch itself. Bounds: counts stop at 10,000. Source: reference repositories 1.6.
 */
export async function summarizePushedCommits(
  repository: Repository,
  { ref, oldId, newId }: RefUpdate,
  defaultBranch: string | null,
): Promise<PushedCommits> {
  if (newId === NO_OBJECT) return NOTHING;
  const commit = await resolveCommit(repository, newId);
  if (commit === null) return NOTHING;
  const commitTitle = await readCommitTitle(repository, commit);
  if (!ref.startsWith(BRANCHES)) return { commitCount: 0, commitTitle };
  const base = await findPushComparisonBase(repository, { ref, oldId }, defaultBranch);
  const commitCount = await countCommits(repository, {
    from: [commit],
    ...(base === null ? {} : { notFrom: [base] }),
    max: MAX_COUNT,
  });
  return { commitCount, commitTitle };
}

async function findPushComparisonBase(
  repository: Repository,
  { ref, oldId }: Pick<RefUpdate, 'ref' | 'oldId'>,
  defaultBranch: string | null,
): Promise<ObjectId | null> {
  if (oldId !== NO_OBJECT && isObjectId(oldId)) return oldId as ObjectId;
  const isDefault = ref === `${BRANCHES}${defaultBranch}`;
  return defaultBranch === null || isDefault ? null : readRef(repository, `${BRANCHES}${defaultBranch}`);
}

async function readCommitTitle(repository: Repository, id: ObjectId): Promise<string | null> {
  const [commit] = await readCommits(repository, [id]);
  const line = commit?.message.trimStart().split('\n', 1)[0] ?? null;
  return line === null || line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`;
}
