import MarkdownIt from 'markdown-it';

/** Longer texts are cut; the link leads to the rest. Units: UTF-16 code units. */
export const TEXT_LIMIT = 20_000;

// Raw HTML stays text. Images are disabled: loading one would reveal to its author who reads the e-mail and when.
const markdown = new MarkdownIt({ html: false, breaks: true, maxNesting: 20 }).disable('image');

/**
 * Returns a text as one line that is safe in a header: control characters, line and paragraph separators and marks that
 * turn the direction of text become blanks. Units: `max` in UTF-16 code units.
 * Source: reference reliability 2.7, 7.3 row 38.
 */
export function toCleanMailLine(text: string, max = 500): string {
  return text
    .slice(0, max)
    .replace(/\p{Surrogate}/gu, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** Whether a text is exactly one address. Directory rows hold confirmed addresses, so anything else is a bug of ours. */
export function isEmailAddress(text: string): boolean {
  // Blanks, quotes, brackets, commas and control characters could be read as a list or a header.
  return text.length <= 254 && /^[^\s\p{C}@<>()[\]\\,;:"]{1,64}@[^\s\p{C}@<>()[\]\\,;:"]+$/u.test(text);
}

/** Returns a text with its lines, cut at `TEXT_LIMIT`, without characters that are forbidden in e-mails. */
export function toCleanMailText(text: string): string {
  const short = text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)} …` : text;
  return short
    .replace(/\p{Surrogate}/gu, ' ')
    .replace(/\r\n?|\u2028|\u2029/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

/** Renders Markdown as HTML. */
export function renderMailMarkdown(text: string): string {
  return markdown.render(toCleanMailText(text));
}
