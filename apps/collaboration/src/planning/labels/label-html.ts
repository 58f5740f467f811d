import { escapeHtml } from '@rookery/kernel';
import MarkdownIt from 'markdown-it';

/** Units: UTF-16 code units. Longer texts are not worth the time that rendering hostile ones takes. */
const RENDERED = 10_000;

// Raw HTML stays text, and images are not loaded wherever a label is shown.
const markdown = new MarkdownIt({ html: false, maxNesting: 20 }).disable('image');

/** The description of a label as one line of HTML; a long one is shown as it was written. */
export function labelHtml(description: string | null): string {
  if (description === null) return '';
  return description.length > RENDERED ? escapeHtml(description) : markdown.renderInline(description);
}
