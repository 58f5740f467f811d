import { isValidBranchOrTagName, NO_OBJECT } from '@rookery/git';
import type { ObjectId, RefUpdate } from '@rookery/git';
import type { BranchAccess, RefAccess } from '../../protected-refs/ref-protections';
import type { PushSource } from './push.entity';

/** Facts about a push that its rules need. */
export interface PushFacts {
  /** Short name of the branch that `HEAD` names. */
  readonly defaultBranch: string;
  /** The repository has no branch. */
  readonly isEmpty: boolean;
  /** The groups of the project let developers push to the empty repository. */
  readonly canDevelopersPushFirst: boolean;
  /** The caller is a maintainer, an owner or an administrator. */
  readonly isMaintainer: boolean;
  readonly access: RefAccess;
  readonly source: PushSource;
  /** The change merges a request. */
  readonly isMerge: boolean;
  readonly isImport: boolean;
  /** Refusal of a caller who may not create the first branch. */
  readonly noDefaultBranchText: string;
  /** Whether an update removes commits from the branch. */
  isForced(update: RefUpdate): Promise<boolean>;
  isOnProtectedBranch(id: ObjectId): Promise<boolean>;
}

/** Refs that one push or one change through the API may move. */
export const MAX_PUSHED_REFS = 5000;
const NOT_PUSHED = 'You are not allowed to push code to this project.';
const LIKE_AN_ID = /^[0-9a-f]{40}(?:-\/|\/|$)/;
const BRANCHES = 'refs/heads/';
const TAGS = 'refs/tags/';
const NOTES = 'refs/notes/';
const IMPORTED_HEAD = /^refs\/imports\/[1-9]\d{0,14}$/;

/**
 * Checks the refs of a push. One refused ref refuses the whole push. Returns null, or the refusal for the user.
 * Source: reference repositories 1.4.
 */
export async function refusalOfRefs(updates: readonly RefUpdate[], facts: PushFacts): Promise<string | null> {
  if (updates.length > MAX_PUSHED_REFS) return `A push may change at most ${MAX_PUSHED_REFS} refs.`;
  for (const update of updates) {
    const refusal = await refusalOfUpdate(update, facts);
    if (refusal !== null) return refusal;
  }
  return null;
}

async function refusalOfUpdate(update: RefUpdate, facts: PushFacts): Promise<string | null> {
  const { ref } = update;
  if (!facts.access.mayPushAny && !updatesBranchSharedByMergeRequest(update, facts)) return NOT_PUSHED;
  if (ref.startsWith(BRANCHES)) {
    const name = ref.slice(BRANCHES.length);
    return refusalOfBranchName(name, update, facts) ?? (await refusalOfProtectedBranch(name, update, facts));
  }
  if (ref.startsWith(TAGS)) return refusalOfTag(ref.slice(TAGS.length), update, facts);
  const isAllowed = ref.startsWith(NOTES) || (facts.isImport && isImportedMergeRequestHeadRef(ref));
  return isAllowed ? null : `You cannot push to ${ref}.`;
}

/** A merge request shares its existing branch, and nothing else of the fork. */
function updatesBranchSharedByMergeRequest({ ref, oldId, newId }: RefUpdate, { access }: PushFacts): boolean {
  if (!ref.startsWith(BRANCHES) || oldId === NO_OBJECT || newId === NO_OBJECT) return false;
  return access.branchAccess(ref.slice(BRANCHES.length)).isShared;
}

/** Whether a ref names the head of an upstream merge request. No client sees it, so its updates are not settled. */
export function isImportedMergeRequestHeadRef(ref: string): boolean {
  return IMPORTED_HEAD.test(ref);
}

function refusalOfBranchName(name: string, { newId }: RefUpdate, { defaultBranch }: PushFacts): string | null {
  if (newId === NO_OBJECT) return name === defaultBranch ? 'The default branch of a project cannot be deleted.' : null;
  if (LIKE_AN_ID.test(name)) return 'You cannot create a branch with a 40-character hexadecimal branch name.';
  return isValidBranchOrTagName(name) ? null : 'You cannot create a branch with an invalid name.';
}

async function refusalOfProtectedBranch(name: string, update: RefUpdate, facts: PushFacts): Promise<string | null> {
  const access = facts.access.branchAccess(name);
  // The branches of the first push count as protected, because one of them becomes the default branch.
  if (facts.isEmpty) return mayPushToEmptyRepository(access, facts) ? null : facts.noDefaultBranchText;
  if (!access.isProtected) return null;
  if (update.newId === NO_OBJECT) return refusalOfProtectedBranchDeletion(access, facts);
  if (update.oldId === NO_OBJECT) return refusalOfProtectedBranchCreation(access, update, facts);
  if (!access.mayForcePush && (await facts.isForced(update)))
    return 'You are not allowed to force push code to a protected branch on this project.';
  if (access.mayPush) return null;
  if (!facts.isMerge) return 'You are not allowed to push code to protected branches on this project.';
  return access.mayMerge ? null : 'You are not allowed to merge code into protected branches on this project.';
}

/** Whether the caller may push to an empty repository. A rule for the branch overrides the setting of the groups. */
function mayPushToEmptyRepository({ isProtected, mayPush }: BranchAccess, facts: PushFacts): boolean {
  return facts.isMaintainer || (isProtected ? mayPush : facts.canDevelopersPushFirst);
}

function refusalOfProtectedBranchDeletion({ mayDelete }: BranchAccess, { source }: PushFacts): string | null {
  if (!mayDelete)
    return 'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.';
  return source === 'git' ? 'You can only delete protected branches using the web interface.' : null;
}

async function refusalOfProtectedBranchCreation(
  { mayPush, mayMerge }: BranchAccess,
  { newId }: RefUpdate,
  { source, isOnProtectedBranch }: PushFacts,
): Promise<string | null> {
  if (mayPush) return null;
  if (!mayMerge) return 'You are not allowed to create protected branches on this project.';
  if (!(await isOnProtectedBranch(newId)))
    return 'You can only use an existing protected branch ref as the basis of a new protected branch.';
  return source === 'git' ? 'You can only create protected branches using the web interface and API.' : null;
}

function refusalOfTag(name: string, update: RefUpdate, facts: PushFacts): string | null {
  const { isProtected, mayCreate } = facts.access.tagAccess(name);
  if (update.oldId !== NO_OBJECT) {
    if (!facts.isMaintainer) return 'You are not allowed to change existing tags on this project.';
    if (!isProtected) return null;
    if (update.newId !== NO_OBJECT) return 'Protected tags cannot be updated.';
    return facts.source === 'git' ? 'You can only delete protected tags using the web interface.' : null;
  }
  if (name === facts.defaultBranch) return 'You cannot use default branch name to create a tag';
  if (LIKE_AN_ID.test(name)) return 'You cannot create a tag with a SHA-1 or SHA-256 tag name.';
  if (!isValidBranchOrTagName(name)) return 'You cannot create a tag with a prohibited pattern.';
  return mayCreate ? null : 'You are not allowed to create this tag as it is protected.';
}
