import type { ObjectId, Repository } from '@rookery/git';
import { Refused } from '@rookery/kernel';
import { readLines, computeLineSpan, textOfLines } from './line-content';
import type { FileLines, LineSpan } from './line-content';
import type { SuggestionRow } from './suggestion-rows';

/** Lines of a file that suggestions replace. `spans` are cut at the end of the file, and ordered from the top. */
export interface FileReplacement {
  readonly path: string;
  readonly lines: FileLines;
  readonly spans: readonly (LineSpan & { readonly text: string })[];
}

/** Texts of the refusals. Source: reference repositories 8.13. */
const TEXTS = {
  noFile: 'A file was not found.',
  otherBranch: 'Suggestions must all be on the same branch.',
  applied: "Can't apply this suggestion.",
  merged: 'This merge request was merged. To apply this suggestion, edit this file directly.',
  closed: 'This merge request is closed. To apply this suggestion, edit this file directly.',
  noBranch: "Can't apply as the source branch was deleted.",
  lineChanged: "Can't apply as this line was changed in a more recent version.",
  linesChanged: "Can't apply as these lines were changed in a more recent version.",
  same: 'This suggestion already matches its content.',
  notebook: "This file was modified for readability, and can't accept suggestions. Edit it directly.",
  overlap: 'Suggestions are not applicable as their lines cannot overlap.',
} as const;

/** Refusal for a source branch that has moved. */
export const FILE_CHANGED = 'A file has been changed.';

/**
 * Checks suggestions against the tip of their source branch, and returns the files that they change. `tip` is null if
 * the branch does not exist. Errors: Refused with the first reason.
 */
export async function computeReplacements(
  view: Repository,
  tip: ObjectId | null,
  rows: readonly SuggestionRow[],
): Promise<FileReplacement[]> {
  const files = new Map<string, FileLines>();
  for (const row of rows) {
    const path = row.new_path;
    const lines = files.get(path) ?? (await readLines(view, row.shown.head_sha as ObjectId, path));
    const reason = lines === null ? TEXTS.noFile : findInapplicableReason(row, rows[0]!, tip, lines);
    if (reason !== null || lines === null) throw createVerbatimRefusal(reason ?? TEXTS.noFile);
    files.set(path, lines);
  }
  return [...files].map(([path, lines]) => ({ path, lines, spans: toReplacementSpans(path, lines, rows) }));
}

/** Returns the first reason why a suggestion cannot be applied, null if it can. */
function findInapplicableReason(
  row: SuggestionRow,
  first: SuggestionRow,
  tip: ObjectId | null,
  lines: FileLines,
): string | null {
  const isElsewhere = row.source_project_id !== first.source_project_id || row.source_branch !== first.source_branch;
  if (isElsewhere) return TEXTS.otherBranch;
  if (row.commit_id !== null) return TEXTS.applied;
  if (row.state === 'merged') return TEXTS.merged;
  if (row.state !== 'opened') return TEXTS.closed;
  if (tip === null) return TEXTS.noBranch;
  const isLost = !row.is_active || row.is_outdated || textOfLines(lines, spanOfSuggestion(row)) !== row.from_content;
  if (isLost) return row.lines_above + row.lines_below > 0 ? TEXTS.linesChanged : TEXTS.lineChanged;
  if (row.from_content === row.to_content) return TEXTS.same;
  if (row.new_path.endsWith('ipynb')) return TEXTS.notebook;
  return row.shown.head_sha === tip ? null : FILE_CHANGED;
}

function spanOfSuggestion({ shown, lines_above: linesAbove, lines_below: linesBelow }: SuggestionRow): LineSpan {
  return computeLineSpan(shown.new_line ?? 0, { linesAbove, linesBelow });
}

/** Errors: Refused for lines that two suggestions replace. */
function toReplacementSpans(path: string, lines: FileLines, rows: readonly SuggestionRow[]): FileReplacement['spans'] {
  const spans = rows
    .filter((row) => row.new_path === path)
    .map((row) => {
      const { from, to } = spanOfSuggestion(row);
      return { from, to: Math.min(to, lines.length), text: row.to_content };
    })
    .sort((a, b) => a.from - b.from);
  const overlaps = spans.some(({ from }, index) => index > 0 && from <= spans[index - 1]!.to);
  if (overlaps) throw createVerbatimRefusal(TEXTS.overlap);
  return spans;
}

/** Content of a file with its lines replaced. */
export function applyFileReplacement({ lines, spans }: FileReplacement): Buffer {
  const parts: Buffer[] = [];
  let next = 1;
  for (const { from, to, text } of spans) {
    parts.push(...lines.slice(next - 1, from - 1), Buffer.from(text));
    next = to + 1;
  }
  return Buffer.concat([...parts, ...lines.slice(next - 1)]);
}

function createVerbatimRefusal(text: string): Refused {
  return new Refused(text, { verbatim: true });
}
