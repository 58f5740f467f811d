import { invalidGitArgument } from '../process/git-error';
import { isObjectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';

/** Result of a merge without a working tree. */
export interface MergeOutcome {
  /** Merged tree. With conflicts it holds files with conflict marks. */
  readonly tree: ObjectId;
  /** Paths with conflicts; empty for a clean merge. */
  readonly conflicts: readonly string[];
  readonly messages: readonly MergeMessage[];
}
export interface MergeMessage {
  readonly paths: readonly string[];
  /** Stable name of git, such as `CONFLICT (contents)`. */
  readonly type: string;
  readonly text: string;
}

/**
 * Parses `merge-tree --write-tree -z --name-only --messages`, null if it does not begin with a tree: git ends with
 * code 1 both for conflicts and for an unknown commit.
 */
export function parseMergeTree(output: Buffer): MergeOutcome | null {
  const fields = output.toString().split('\0');
  const tree = fields[0] ?? '';
  if (!isObjectId(tree)) return null;
  let at = 1;
  const conflicts: string[] = [];
  while (at < fields.length && fields[at] !== '') conflicts.push(fields[at++]!);
  at += 1;
  const messages: MergeMessage[] = [];
  while (at < fields.length - 1) {
    const count = Number(fields[at++]);
    if (!Number.isSafeInteger(count) || at + count + 2 > fields.length)
      throw invalidGitArgument('The output of merge-tree is malformed.');
    const paths = fields.slice(at, at + count);
    messages.push({ paths, type: fields[at + count]!, text: fields[at + count + 1]! });
    at += count + 2;
  }
  return { tree, conflicts: [...new Set(conflicts)], messages };
}
