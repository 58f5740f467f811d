import { readPatches } from '@rookery/git';
import type { FileChange, ObjectId, Repository } from '@rookery/git';
import { byteLimitOf, COUNT_LIMIT, HeavyPage, offsetOf } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { DiffBudget, MAX_PATCH_BYTES } from './diff-limits';
import type { DiffLimits, PatchState } from './diff-limits';

/** Two commits or trees; null is the empty tree. */
export interface DiffSides {
  readonly oldId: ObjectId | null;
  readonly newId: ObjectId;
}

/** Form of the patches. */
export interface DiffForm {
  /** Each patch begins with the lines `---` and `+++` with the names of the file. */
  readonly isUnified: boolean;
}

/** Changed file of a diff. `text` is empty unless the state is `shown`. */
export interface FileDiff {
  readonly change: FileChange;
  readonly text: string;
  readonly state: PatchState;
}

/** Whole diff within limits. */
export interface Diff {
  readonly files: readonly FileDiff[];
  /** Files are missing, or have no patch, because the limits of the whole diff were reached. */
  readonly isCut: boolean;
}

/**
 * Reads a page of the files of a diff with their patches. Only the limit of a file applies. Errors: HeavyPage for a page
 * with more text than the request may have.
 */
export async function readDiffPage(
  repository: Repository,
  sides: DiffSides,
  { page, isUnified }: DiffForm & { readonly page: PageRequest },
): Promise<Page<FileDiff>> {
  const rows: FileDiff[] = [];
  const [skip, max] = [offsetOf(page), page.perPage];
  let left = byteLimitOf(page);
  const changes = await readPatches(
    repository,
    { ...sides, skip, max, maxFileBytes: MAX_PATCH_BYTES },
    ({ change, patch }) => {
      left -= patch?.length ?? 0;
      if (left < 0) throw new HeavyPage();
      const state = patch === null ? 'too large' : 'shown';
      rows.push({ change, state, text: patch === null ? '' : extractHunks(patch, isUnified) });
      return true;
    },
  );
  const total = changes.length > COUNT_LIMIT ? null : changes.length;
  return { rows, total, hasNext: changes.length > skip + max };
}

/**
 * Reads a whole diff within limits. With `isCollapsing`, patches beyond a tenth of a limit are collapsed.
 * Source: reference repositories 4.3.
 */
export async function readDiff(
  repository: Repository,
  sides: DiffSides,
  { limits, isCollapsing, isUnified }: DiffForm & { readonly limits: DiffLimits; readonly isCollapsing: boolean },
): Promise<Diff> {
  const files: FileDiff[] = [];
  const budget = new DiffBudget(limits, isCollapsing);
  const { files: max, fileBytes: maxFileBytes } = limits;
  const changes = await readPatches(repository, { ...sides, max, maxFileBytes }, ({ change, patch }) => {
    const state = budget.chargePatch(patch);
    files.push({ change, state, text: state === 'shown' ? extractHunks(patch!, isUnified) : '' });
    return !budget.isSpent;
  });
  const rest = changes.slice(files.length, max).map((change) => ({ change, state: 'too large', text: '' }) as const);
  return { files: [...files, ...rest], isCut: budget.isSpent || changes.length > max };
}

/** git writes its headers first; a line of a file never begins like these. */
const NAMES = '\n--- ';
const HUNK = '\n@@ ';
const BINARY = '\nBinary files ';

/** Returns the hunks of a patch; empty for a change without text. Bytes that are not UTF-8 are replaced. */
function extractHunks(patch: Buffer, isUnified: boolean): string {
  const start = patch.includes(HUNK) ? patch.indexOf(isUnified ? NAMES : HUNK) : patch.indexOf(BINARY);
  return start < 0 ? '' : patch.toString('utf8', start + 1);
}
