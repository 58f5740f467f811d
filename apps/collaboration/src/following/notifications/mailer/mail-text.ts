import MarkdownIt from 'markdown-it';

/** Units: UTF-16 code units. More of a text is behind the link. */
export const TEXT_LIMIT = 20_000;

// Raw HTML stays text, and images are not loaded: they would tell their author who reads when.
const markdown = new MarkdownIt({ html: false, breaks: true, maxNesting: 20 }).disable('image');

/**
 * A text as one line that cannot end a header: control characters, line and paragraph separators and marks that turn
 * the direction of writing become blanks. Units: `max` in UTF-16 code units.
 * Source: reference reliability 2.7, 7.3 row 38.
 */
export function oneLine(text: string, max = 500): string {
  return text
    .slice(0, max)
    .replace(/\p{Surrogate}/gu, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** Is this one address and nothing else? Directory rows are confirmed, so anything else is a fault of ours. */
export function isAddress(text: string): boolean {
  // No blanks, quotes, brackets, commas or control characters: nothing that could be read as a list or a header.
  return text.length <= 254 && /^[^\s\p{C}@<>()[\]\\,;:"]{1,64}@[^\s\p{C}@<>()[\]\\,;:"]+$/u.test(text);
}

/** A text of several lines without characters that no mail may hold. */
export function manyLines(text: string): string {
  const short = text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)} …` : text;
  return short
    .replace(/\p{Surrogate}/gu, ' ')
    .replace(/\r\n?|\u2028|\u2029/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

export function htmlOf(text: string): string {
  return markdown.render(manyLines(text));
}
