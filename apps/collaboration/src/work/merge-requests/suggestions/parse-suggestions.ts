import { findFences } from '../../../talk/mentions/markdown-blocks';
import type { NewSuggestion } from '../../../talk/notes/positions/position-rows';
import { bytesOfLines, computeLineSpan, textOfLines } from './line-content';
import type { FileLines } from './line-content';

const WORD = 'suggestion';
const RANGE = /^(?:-(\d+))?(?:\+(\d+))?$/;
/** Lines on each side of the line of the thread. Source: reference repositories 8.13. */
const MAX_LINES = 100;
const MAX_SUGGESTIONS = 100;
/** Largest size of the lines that all suggestions in a text replace, since each keeps a copy of them. Units: bytes. */
const MAX_REPLACED_BYTES = 1024 * 1024;
const LAST_END = /(?:\r\n|\r|\n)$/;

/** Whether a text can hold a suggestion, without parsing it. */
export function hasSuggestion(body: string): boolean {
  return body.includes(WORD);
}

/**
 * Returns the suggestions in the text of a note, in their order: fenced blocks with the language `suggestion`. `lines`
 * are the lines of the file, `line` is the line of the thread. Bounds: blocks beyond a limit are none.
 * Source: reference repositories 8.13.
 */
export function parseSuggestions(
  body: string,
  { lines, line }: { readonly lines: FileLines; readonly line: number },
): NewSuggestion[] {
  const found: NewSuggestion[] = [];
  let bytes = 0;
  for (const { info, content } of findFences(body)) {
    const [word, range = ''] = splitFenceInfoString(info);
    if (word !== WORD) continue;
    const size = parseLineRange(range);
    const span = computeLineSpan(line, size);
    bytes += bytesOfLines(lines, span);
    if (found.length === MAX_SUGGESTIONS || bytes > MAX_REPLACED_BYTES) break;
    const fromContent = textOfLines(lines, span);
    found.push({ ...size, fromContent, toContent: adoptLineEnds(content, fromContent) });
  }
  return found;
}

/** Splits the first word of an info string into the language and what follows the colon. */
function splitFenceInfoString(info: string): [string, string] {
  const [first = ''] = info.trim().split(/\s+/, 1);
  const colon = first.indexOf(':');
  return colon < 0 ? [first, ''] : [first.slice(0, colon), first.slice(colon + 1)];
}

/** A range of another form is none. */
function parseLineRange(range: string): { readonly linesAbove: number; readonly linesBelow: number } {
  const [, above = '0', below = '0'] = RANGE.exec(range) ?? [];
  return { linesAbove: Math.min(MAX_LINES, Number(above)), linesBelow: Math.min(MAX_LINES, Number(below)) };
}

/**
 * Text in the place of lines. It ends as the last of them does. A blank text removes them. Where all replaced lines end in
 * a carriage return and a line feed, the lines of the text do too.
 */
function adoptLineEnds(suggested: string, replacedLines: string): string {
  const text = suggested.replace(/\n$/, '');
  if (text.trim() === '') return '';
  const end = LAST_END.exec(replacedLines)?.[0] ?? '';
  const hasOnlyCrlf = replacedLines.includes('\r\n') && !/(?<!\r)\n/.test(replacedLines);
  return `${hasOnlyCrlf ? text.replaceAll('\n', '\r\n') : text}${end}`;
}
