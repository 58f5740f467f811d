import type { Readable } from 'node:stream';
import { parseDiff } from './parse-diff';
import type { FileChange } from './parse-diff';

/** Changed file with its patch. */
export interface FilePatch {
  readonly change: FileChange;
  /**
   * Headers of git and hunks, null if the patch is larger than the bound. Paths in it are quoted, so that no line of
   * it is made by a name.
   */
  readonly patch: Buffer | null;
}

/** Lines of files begin with a blank, a sign or a backslash, so only git writes this at the start of a line. */
const NEXT_FILE = Buffer.from('\ndiff --git ');
const END_OF_NAMES = Buffer.from('\0\0');
const NOTHING = Buffer.alloc(0);
const FILE_TYPE_DIGITS = 3;

/**
 * Parses `diff-tree -r -z --raw -p`: records of the changed files, then their patches in the same order. A file that
 * becomes another type (a symbolic link, a submodule) has two patches: it is yielded as deleted and as added. `begin`
 * gets all changed files before the first patch. Bounds: memory for one patch of `maxFileBytes`.
 */
export async function* parsePatches(
  output: Readable,
  maxFileBytes: number,
  begin: (changes: readonly FileChange[]) => void,
): AsyncGenerator<FilePatch> {
  let changes: FileChange[] | null = null;
  let rest: Buffer = NOTHING;
  let at = 0;
  let patch = new BoundedBytes(maxFileBytes);
  for await (const chunk of output) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk as Buffer]) : (chunk as Buffer);
    if (changes === null) {
      const end = rest.indexOf(END_OF_NAMES);
      if (end < 0) continue;
      changes = parseDiff(rest.subarray(0, end + 1)).flatMap(splitTypeChange);
      rest = rest.subarray(end + 2);
      begin(changes);
    }
    for (let next = rest.indexOf(NEXT_FILE); next >= 0; next = rest.indexOf(NEXT_FILE)) {
      patch.addPart(rest.subarray(0, next + 1));
      yield { change: changes[at]!, patch: patch.allBytes() };
      at += 1;
      patch = new BoundedBytes(maxFileBytes);
      rest = rest.subarray(next + 1);
    }
    const sure = Math.max(0, rest.length - NEXT_FILE.length + 1);
    patch.addPart(rest.subarray(0, sure));
    rest = rest.subarray(sure);
  }
  patch.addPart(rest);
  const last = changes?.[at];
  if (last) yield { change: last, patch: patch.allBytes() };
}

/** git writes two patches for a file whose type changes. A changed permission is no other type. */
function splitTypeChange(change: FileChange): FileChange[] {
  const { oldMode, newMode } = change;
  const isSplit =
    change.status === 'type changed' && oldMode.slice(0, FILE_TYPE_DIGITS) !== newMode.slice(0, FILE_TYPE_DIGITS);
  if (!isSplit) return [change];
  return [
    { ...change, status: 'deleted', newMode: '000000' },
    { ...change, status: 'added', oldMode: '000000' },
  ];
}

/** Bytes up to a bound; the rest is counted out and forgotten. */
class BoundedBytes {
  private readonly parts: Buffer[] = [];
  private length = 0;

  constructor(private readonly max: number) {}

  addPart(part: Buffer): void {
    this.length += part.length;
    // A copy, because a part of a chunk would keep the whole chunk.
    if (this.length <= this.max) this.parts.push(Buffer.from(part));
    else this.parts.length = 0;
  }

  allBytes(): Buffer | null {
    return this.length <= this.max ? Buffer.concat(this.parts) : null;
  }
}
