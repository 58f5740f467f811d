import { isValidBranchOrTagName } from '@rookery/git';
import type { RefName } from '@rookery/git';
import type { FailedObject } from '../stage-failure';

const BRANCHES = 'refs/heads/';
const TAGS = 'refs/tags/';

/**
 * Separates the refs that a push may create from those that it may not, since one refused ref refuses the whole push.
 * The default branch comes first, so that it exists from the first push on. Source: reference repositories 1.4.
 */
export function splitImportableRefs(
  names: readonly RefName[],
  defaultBranch: string | null,
): { readonly refs: readonly RefName[]; readonly failed: readonly FailedObject[] } {
  const first = `${BRANCHES}${defaultBranch ?? ''}`;
  const failed: FailedObject[] = [];
  const refs = names.filter((name) => {
    const problem = findRefNameProblem(name, defaultBranch);
    if (problem !== null) failed.push(problem);
    return problem === null;
  });
  return { refs: [...refs.filter((ref) => ref === first), ...refs.filter((ref) => ref !== first)], failed };
}

const HEAD = /^refs\/imports\/[1-9]\d{0,14}$/;

/** Whether a ref is the head of a pull request. */
export function isImportedMergeRequestRef(name: RefName): boolean {
  return HEAD.test(name);
}

/** Returns the heads of merge requests, the newest last. Those without a usable number are left out. */
export function listImportedMergeRequestRefs(names: readonly RefName[]): readonly RefName[] {
  const numberOf = (name: RefName): number => Number(name.slice(name.lastIndexOf('/') + 1));
  return names.filter(isImportedMergeRequestRef).toSorted((a, b) => numberOf(a) - numberOf(b));
}

function findRefNameProblem(name: RefName, defaultBranch: string | null): FailedObject | null {
  const isBranch = name.startsWith(BRANCHES);
  const short = name.slice((isBranch ? BRANCHES : TAGS).length);
  const relation = isBranch ? 'branch' : 'tag';
  if (!isValidBranchOrTagName(short))
    return { relation, name: short, message: `The name of the ${relation} is not allowed.` };
  if (isBranch || short !== defaultBranch) return null;
  return { relation, name: short, message: 'A tag cannot have the name of the default branch.' };
}
