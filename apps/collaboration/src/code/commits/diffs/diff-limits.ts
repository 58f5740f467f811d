/** Limits of a diff. Units: bytes for `fileBytes` and `bytes`. */
export interface DiffLimits {
  readonly files: number;
  readonly lines: number;
  /** Largest size of all patches together. */
  readonly bytes: number;
  /** Largest size of the patch of one file. */
  readonly fileBytes: number;
}

/** Whether the patch of a file is shown. */
export type PatchState = 'shown' | 'collapsed' | 'too large';

const KIB = 1024;
/** Largest patch of one file in any answer. Units: bytes. Source: reference repositories 4.3. */
export const MAX_PATCH_BYTES = 200 * KIB;
/** Limits of an answer with a whole diff. Source: reference repositories 4.3. */
export const DIFF_LIMITS: DiffLimits = {
  files: 1000,
  lines: 50_000,
  bytes: 5 * KIB * KIB,
  fileBytes: MAX_PATCH_BYTES,
};
/** Beyond this part of a limit patches are collapsed, if the answer collapses them. */
const COLLAPSED_FROM = 0.1;
const LINE_END = 10;

/** Counts the patches of one answer against its limits, in the order of the files. */
export class DiffBudget {
  private files = 0;
  private lines = 0;
  private bytes = 0;

  constructor(
    private readonly limits: DiffLimits,
    private readonly isCollapsing: boolean,
  ) {}

  /** The lines or bytes of the whole answer are used up. */
  get isSpent(): boolean {
    return this.exceedsShareOfLimits(1);
  }

  /** Counts a patch and returns whether it is shown. `patch` is null if it is above the limit of a file. */
  chargePatch(patch: Buffer | null): PatchState {
    this.files += 1;
    if (patch === null || patch.length > this.limits.fileBytes) return 'too large';
    this.lines += countLines(patch);
    this.bytes += patch.length;
    if (this.isSpent) return 'too large';
    const isLong = patch.length > this.limits.fileBytes * COLLAPSED_FROM;
    const isLate = this.files > this.limits.files * COLLAPSED_FROM || this.exceedsShareOfLimits(COLLAPSED_FROM);
    return this.isCollapsing && (isLong || isLate) ? 'collapsed' : 'shown';
  }

  private exceedsShareOfLimits(share: number): boolean {
    return this.lines > this.limits.lines * share || this.bytes > this.limits.bytes * share;
  }
}

function countLines(patch: Buffer): number {
  let count = 0;
  for (let at = patch.indexOf(LINE_END); at >= 0; at = patch.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}
