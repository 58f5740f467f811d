import { invalidGitArgument } from '../process/git-error';
import type { ObjectId } from '../names/object-id';

/** Line of a file with the commit that wrote it. Lines count from 1. `text` has no line end. */
export interface BlamedLine {
  readonly commit: ObjectId;
  readonly originalLine: number;
  readonly line: number;
  /** Path of the file in that commit. */
  readonly path: string;
  readonly text: string;
}

const HEAD = /^([0-9a-f]{40}) (\d+) (\d+)(?: \d+)?$/;
const TAB = 9;
const LINE_END = 10;

/** Parses `blame --porcelain`. A commit's headers come only before its first line, so paths are remembered. */
export function parseBlame(output: Buffer): BlamedLine[] {
  const lines: BlamedLine[] = [];
  const paths = new Map<string, string>();
  let head: RegExpExecArray | null = null;
  for (let at = 0; at < output.length;) {
    const found = output.indexOf(LINE_END, at);
    const end = found < 0 ? output.length : found;
    const isContent = output[at] === TAB;
    const text = output.toString('utf8', isContent ? at + 1 : at, end);
    at = end + 1;
    if (!head) {
      head = HEAD.exec(text);
      if (!head) throw invalidGitArgument('The output of blame is malformed.');
      continue;
    }
    const id = head[1]!;
    if (isContent) {
      lines.push({
        commit: id as ObjectId,
        originalLine: Number(head[2]),
        line: Number(head[3]),
        path: paths.get(id) ?? '',
        text,
      });
      head = null;
    } else if (text.startsWith('filename ')) paths.set(id, unquoteGitPath(text.slice('filename '.length)));
  }
  return lines;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};

/** Takes git's C quoting off a path that holds control characters, quotes or backslashes. */
function unquoteGitPath(path: string): string {
  if (!path.startsWith('"') || !path.endsWith('"')) return path;
  const bytes = path
    .slice(1, -1)
    .replaceAll(/\\([0-7]{3}|.)/g, (_whole, code: string) =>
      code.length === 3 ? String.fromCharCode(parseInt(code, 8)) : (ESCAPES[code] ?? code),
    );
  // Only control characters are written in octal here (core.quotePath is off), so the text needs no decoding.
  return bytes;
}
