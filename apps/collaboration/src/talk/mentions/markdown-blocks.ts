import MarkdownIt from 'markdown-it';

/** One paragraph, heading or cell of a text: its lines without code. `isListItem`: it opens an item of a list. */
export interface TextBlock {
  readonly text: string;
  readonly isListItem: boolean;
}

// Only what decides where code is: blocks, code spans and escapes. Links and emphasis change nothing here, and without
// them no text makes the parser slow (reference reliability 7.3 row 30). Raw HTML is text: a mention in it counts.
const parser = new MarkdownIt('zero', { maxNesting: 20 })
  // Joined, an escaped character could not be told from text.
  .disable('text_join')
  .enable(['fence', 'code', 'blockquote', 'list', 'heading', 'lheading', 'hr', 'backticks', 'escape', 'newline']);

/** Stands for something that is no text of its own: a code span or an escaped character. */
const GAP = '\ufffc';

type Token = ReturnType<typeof parser.parse>[number];

/**
 * No more than this is read of a text, up to the last whole line, so that the longest text cannot hold the process for
 * a second. Units: UTF-16 code units. Source: reference work-tracking 6.3.
 */
export const READ_LIMIT = 100_000;

/** The readable parts of a Markdown text. Code blocks are left out; a code span leaves a gap. */
export function textBlocks(markdown: string): TextBlock[] {
  const tokens = parser.parse(readable(markdown), {});
  return tokens.flatMap((token, index) =>
    token.type === 'inline' ? [{ text: inlineText(token), isListItem: opensListItem(tokens, index) }] : [],
  );
}

/** As much of a text as is read. Shape: whole lines, unless the first is too long itself. */
export function readable(markdown: string): string {
  if (markdown.length <= READ_LIMIT) return markdown;
  const end = markdown.lastIndexOf('\n', READ_LIMIT);
  return markdown.slice(0, end > 0 ? end : READ_LIMIT);
}

/**
 * Which lines of a text are code, fenced or indented, counted from 0. Shape: `text` as `readable` gives it; a line ends in
 * a line feed, a carriage return, or both.
 */
export function codeLines(text: string): ReadonlySet<number> {
  const tokens: Token[] = [];
  parser.block.parse(text.replaceAll(/\r\n?/g, '\n'), parser, {}, tokens);
  const lines = new Set<number>();
  for (const { type, map } of tokens) {
    if (map && (type === 'fence' || type === 'code_block')) for (let n = map[0]; n < map[1]; n++) lines.add(n);
  }
  return lines;
}

function inlineText(token: Token): string {
  return (token.children ?? [])
    .map((child) => {
      if (child.type === 'softbreak' || child.type === 'hardbreak') return '\n';
      return child.type === 'text' ? child.content : GAP;
    })
    .join('');
}

function opensListItem(tokens: readonly Token[], index: number): boolean {
  return tokens[index - 1]?.type === 'paragraph_open' && tokens[index - 2]?.type === 'list_item_open';
}
