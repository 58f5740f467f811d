import { isRefName, listRefs, readCommits, readHead, readRefs, resolveCommit } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import type { ResolvedRef } from '@rookery/contracts';
import { formatCommitTimeUtc } from './commit-times';

const BRANCHES = 'refs/heads/';
const TAGS = 'refs/tags/';

/**
 * Finds the commit that a name means, with the ref behind the name. A full ref name comes before a branch, and a branch
 * before a tag. A null name is the default branch; null = the repository has no such commit.
 */
export async function resolveRef(
  repository: Repository,
  name: string | null,
  includesBranch: boolean,
): Promise<ResolvedRef | null> {
  const ref = await findFullRefName(repository, name ?? (await readHead(repository)));
  const sha = await resolveCommit(repository, ref ?? name ?? '');
  const [commit] = sha === null ? [] : await readCommits(repository, [sha]);
  if (!commit) return null;
  return {
    sha: commit.id,
    ref: ref && shortRefName(ref),
    is_tag: ref?.startsWith(TAGS) ?? false,
    committed_at: formatCommitTimeUtc(commit.committer),
    branch: includesBranch ? await findBranchContaining(repository, commit.id) : null,
  };
}

/** Returns the full name of the existing ref that a name means. */
async function findFullRefName(repository: Repository, name: string): Promise<string | null> {
  const candidates = [name, `${BRANCHES}${name}`, `${TAGS}${name}`].filter((one) => one !== 'HEAD' && isRefName(one));
  const existing = await readRefs(repository, candidates);
  return candidates.find((one) => existing.has(one)) ?? null;
}

async function findBranchContaining(repository: Repository, id: ObjectId): Promise<string | null> {
  const [branch] = await listRefs(repository, { under: ['refs/heads'], contains: id, order: 'name', max: 1 });
  return branch ? shortRefName(branch.name) : null;
}

function shortRefName(ref: string): string {
  const prefix = [BRANCHES, TAGS].find((one) => ref.startsWith(one)) ?? '';
  return ref.slice(prefix.length);
}
