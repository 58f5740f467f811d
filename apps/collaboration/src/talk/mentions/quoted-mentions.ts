import { findMarkdownCodeLines, cutMarkdownToParseLimit } from './markdown-blocks';
import { findMentions, MENTION } from './mentions';

/** Invisible character. After an `@` it prevents a mention, because no username contains it. */
const WORD_JOINER = '\u2060';
const LINE_END = /(\r\n|\r|\n)/;

/**
 * Puts each mention of an imported text into a code span, because the names are those of another host. Mentions in code
 * stay. Source: reference identity-and-import 6.6.
 */
export function wrapMentionsInCode(markdown: string): string {
  if (findMentions(markdown).all.length === 0) return markdown;
  const code = findMarkdownCodeLines(cutMarkdownToParseLimit(markdown));
  const parts = markdown.split(LINE_END);
  const quoted = parts
    .map((part, at) => (at % 2 === 1 || code.has(at / 2) ? part : quoteMentionsInLine(part)))
    .join('');
  if (findMentions(quoted).all.length === 0) return quoted;
  // A code span over several lines: more backticks would end it.
  return markdown.replace(MENTION, (mention) => `@${WORD_JOINER}${mention.slice(1)}`);
}

/** Quotes mentions outside of the code spans of a line. */
function quoteMentionsInLine(line: string): string {
  let quoted = '';
  let from = 0;
  for (const { start, end } of findCodeSpans(line)) {
    quoted += line.slice(from, start).replace(MENTION, '`$&`') + line.slice(start, end);
    from = end;
  }
  return quoted + line.slice(from).replace(MENTION, '`$&`');
}

/** A code span begins and ends with runs of backticks of the same length. */
function findCodeSpans(line: string): { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const runs = [...line.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ length, index }));
  // From the end, so that each run finds the next one of its length at once.
  const nextOfLength = new Map<number, number>();
  const ends = runs.map(() => 0);
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const { length, index } = runs[at]!;
    ends[at] = nextOfLength.get(length) ?? 0;
    nextOfLength.set(length, index + length);
  }
  let from = 0;
  runs.forEach(({ index }, at) => {
    if (index < from || ends[at] === 0) return;
    from = ends[at]!;
    spans.push({ start: index, end: from });
  });
  return spans;
}
