import { GitError, listCommitIds, readCommits } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';

/** Commit whose message may refer to an issue or to another noteable. */
export interface ReferringCommit {
  readonly id: ObjectId;
  readonly message: string;
}

/** Beginning of every reference: a sigil and a number, or the path in the URL of an issue. */
const MAY_REFER = /[#!&$][1-9]|\/(?:issues|work_items)\/[1-9]/;
const COMMITS_AT_ONCE = 50;
/** Units: UTF-16 code units of all messages together, so that a push cannot occupy the process for seconds. */
const MESSAGES_LIMIT = 200_000;

/**
 * Reads the commits whose messages may refer to issues, merge requests or users, the newest first. At most `max` commits are
 * examined. Their messages have at most 200,000 characters together: the message that exceeds it, and all after it, are left out.
 */
export async function readCommitsWithReferences(
  repository: Repository,
  { from, notFrom, max }: { readonly from: ObjectId; readonly notFrom: readonly ObjectId[]; readonly max: number },
): Promise<ReferringCommit[]> {
  const ids = await listCommitIds(repository, { from: [from], notFrom, skip: 0, max });
  const found: ReferringCommit[] = [];
  let left = MESSAGES_LIMIT;
  for (let at = 0; at < ids.length; at += COMMITS_AT_ONCE) {
    for (const { id, message } of await readCommitsUnlessTooLarge(repository, ids.slice(at, at + COMMITS_AT_ONCE))) {
      if (!MAY_REFER.test(message)) continue;
      left -= message.length;
      if (left < 0) return found;
      found.push({ id, message });
    }
  }
  return found;
}

/** Reads commits. Returns an empty list if they are too large for a reader. Their texts then refer to nothing. */
async function readCommitsUnlessTooLarge(
  repository: Repository,
  ids: readonly ObjectId[],
): Promise<readonly ReferringCommit[]> {
  try {
    return await readCommits(repository, ids);
  } catch (error) {
    if (error instanceof GitError && error.reason === 'too large') return [];
    throw error;
  }
}
