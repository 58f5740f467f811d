import MarkdownIt from 'markdown-it';

/** Paragraph or heading of a text, without code. `isListItem` is true if the block starts a list item. */
export interface TextBlock {
  readonly text: string;
  readonly isListItem: boolean;
}

// Enables only the rules that decide where code is: blocks, code spans and escapes. Links and emphasis do not matter here,
// and without them no text makes the parser slow (reference reliability 7.3 row 30). Raw HTML is text: a mention in it counts.
const parser = new MarkdownIt('zero', { maxNesting: 20 })
  // After joining, an escaped character could not be distinguished from text.
  .disable('text_join')
  .enable(['fence', 'code', 'blockquote', 'list', 'heading', 'lheading', 'hr', 'backticks', 'escape', 'newline']);

/** Placeholder for a code span or an escaped character. */
const GAP = '\ufffc';

type Token = ReturnType<typeof parser.parse>[number];

/**
 * Maximum length that is parsed of a text, up to the last whole line, so that the longest text cannot block the process for
 * a second. Units: UTF-16 code units. Source: reference work-tracking 6.3.
 */
export const READ_LIMIT = 100_000;

/** Returns the text blocks of a Markdown text. Omits code blocks and replaces code spans with a placeholder. */
export function textBlocks(markdown: string): TextBlock[] {
  const tokens = parser.parse(cutMarkdownToParseLimit(markdown), {});
  return tokens.flatMap((token, index) =>
    token.type === 'inline' ? [{ text: plainTextOfInlineToken(token), isListItem: opensListItem(tokens, index) }] : [],
  );
}

/** Returns the part of a text that is parsed. The part has whole lines, unless the first line exceeds the limit. */
export function cutMarkdownToParseLimit(markdown: string): string {
  if (markdown.length <= READ_LIMIT) return markdown;
  const end = markdown.lastIndexOf('\n', READ_LIMIT);
  return markdown.slice(0, end > 0 ? end : READ_LIMIT);
}

/**
 * Returns the numbers of the lines that are code, fenced or indented, counted from 0. `text` is the result of
 * `cutMarkdownToParseLimit`; a line ends in a line feed, a carriage return, or both.
 */
export function findMarkdownCodeLines(text: string): ReadonlySet<number> {
  const tokens: Token[] = [];
  parser.block.parse(text.replaceAll(/\r\n?/g, '\n'), parser, {}, tokens);
  const lines = new Set<number>();
  for (const { type, map } of tokens) {
    if (map && (type === 'fence' || type === 'code_block')) for (let n = map[0]; n < map[1]; n++) lines.add(n);
  }
  return lines;
}

/** Fenced code block. `content` ends in a line feed unless it is empty. */
export interface Fence {
  readonly info: string;
  readonly content: string;
}

/** Returns the fenced code blocks of a text, also those in lists and quotations. Bounds: as `cutMarkdownToParseLimit`. */
export function findFences(markdown: string): Fence[] {
  const tokens: Token[] = [];
  parser.block.parse(cutMarkdownToParseLimit(markdown).replaceAll(/\r\n?/g, '\n'), parser, {}, tokens);
  return tokens.flatMap(({ type, info, content }) => (type === 'fence' ? [{ info, content }] : []));
}

function plainTextOfInlineToken(token: Token): string {
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
