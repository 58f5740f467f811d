import { listRefs, readHead, readRef, setHead } from '@rookery/git';
import type { Repository } from '@rookery/git';

const BRANCHES = 'refs/heads/';
/** Branch that HEAD names until the first push, unless the project has another default branch. */
export const FIRST_BRANCH = 'main';
/** Branches that become the default one after the first push, in this order. Source: reference repositories 1.5. */
const PREFERRED = [FIRST_BRANCH, 'master'];

/** Branch of `HEAD`. `name` is null while the repository has no branch. */
export interface DefaultBranch {
  readonly name: string | null;
  readonly hasChanged: boolean;
}

/** Lets `HEAD` name an existing branch, after the first push. */
export async function pointHeadToExistingBranch(repository: Repository): Promise<DefaultBranch> {
  const head = await readHead(repository);
  if ((await readRef(repository, head)) !== null) return { name: head.slice(BRANCHES.length), hasChanged: false };
  const branches = await listRefs(repository, { under: ['refs/heads'], order: 'name', max: 1000 });
  const names = branches.map(({ name }) => name.slice(BRANCHES.length));
  const chosen = PREFERRED.find((name) => names.includes(name)) ?? names[0];
  if (chosen === undefined) return { name: null, hasChanged: false };
  await setHead(repository, `${BRANCHES}${chosen}`);
  return { name: chosen, hasChanged: true };
}
