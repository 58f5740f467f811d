import type { ObjectId } from '../names/object-id';
import { refName } from '../names/ref-name';
import { readHead, readRef } from '../refs/refs';
import type { Repositories } from '../repository/repositories';
import type { Repository, RepositoryAddress } from '../repository/repository';

const FETCH_MS = 600_000;
const BRANCHES = 'refs/heads/';

/**
 * Copies branches and tags of a repository on the same machine, or one branch with the tags of its history. Only
 * objects that these refs reach are copied, and there are no alternates: neither repository depends on the other, and
 * objects of hidden refs stay where they are. `branch` becomes the branch of `HEAD`, by default that of the source; a
 * missing branch gives an empty repository. Errors: GitError.
 */
export async function forkRepository(
  repositories: Repositories,
  from: RepositoryAddress,
  to: RepositoryAddress,
  { branch }: { readonly branch?: string } = {},
): Promise<Repository> {
  const source = repositories.open(from);
  const head = branch === undefined ? await readHead(source) : refName(`${BRANCHES}${branch}`);
  const isMissing = branch !== undefined && (await readRef(source, head)) === null;
  return repositories.create(to, { defaultBranch: head.slice(BRANCHES.length) }, async (copy) => {
    if (isMissing) return;
    const refs = branch === undefined ? [`${BRANCHES}*`, 'refs/tags/*'] : [head];
    const specs = refs.map((ref) => `+${ref}:${ref}`);
    await fetchRefspecs(copy, source, { specs, followsTags: branch !== undefined });
    await copy.run({ args: ['pack-refs', '--all'] });
  });
}

/**
 * Fetches a commit with its history from another repository of this machine, and lets a hidden ref name it. In a
 * quarantine no ref names it, because it is part of the repository only once the write is kept.
 * Errors: GitError, also if the source lacks the commit.
 */
export async function fetchCommit(repository: Repository, source: Repository, id: ObjectId): Promise<void> {
  if (repository.quarantine) return fetchRefspecs(repository, source, { specs: [id] });
  const ref = `refs/keep-around/${id}`;
  if ((await readRef(repository, ref)) === id) return;
  try {
    await fetchRefspecs(repository, source, { specs: [`${id}:${ref}`] });
  } catch (error) {
    // Another request may have fetched the same commit.
    if ((await readRef(repository, ref)) !== id) throw error;
  }
}

async function fetchRefspecs(
  repository: Repository,
  source: Repository,
  o: { readonly specs: readonly string[]; readonly followsTags?: boolean },
): Promise<void> {
  const options = ['--quiet', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules'];
  const tags = o.followsTags ? [] : ['--no-tags'];
  await repository.run({
    args: ['fetch', ...options, ...tags, '--no-show-forced-updates', '--', source.directory, ...o.specs],
    config: [
      ['protocol.file.allow', 'always'],
      ['fetch.unpackLimit', '1'],
      // The source checked its objects when it received them.
      ['fetch.fsckObjects', 'false'],
      ['transfer.fsckObjects', 'false'],
    ],
    variables: { GIT_ALLOW_PROTOCOL: 'file' },
    lane: 'inside',
    limits: { ms: FETCH_MS, idleMs: FETCH_MS },
  });
}
