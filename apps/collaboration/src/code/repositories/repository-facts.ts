import { listRefs, readHead, readRef } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';

/** Facts about a repository. Values are null if the repository has no branch or no tag. */
export interface RepositoryFacts {
  readonly defaultBranch: string | null;
  readonly commitSha: ObjectId | null;
  /** Tag with the newest date. */
  readonly latestTag: string | null;
}

export async function readRepositoryFacts(repository: Repository): Promise<RepositoryFacts> {
  const head = await readHead(repository);
  const commitSha = await readRef(repository, head);
  const [tag] = await listRefs(repository, { under: ['refs/tags'], order: '-updated', max: 1 });
  return {
    defaultBranch: commitSha === null ? null : head.slice('refs/heads/'.length),
    commitSha,
    latestTag: tag?.name.slice('refs/tags/'.length) ?? null,
  };
}
