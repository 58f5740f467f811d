import { escapeHtml } from '@rookery/kernel';
import MarkdownIt from 'markdown-it';

/** Maximum length that is rendered; longer hostile texts would take too long. Units: UTF-16 code units. */
const RENDERED_LENGTH = 10_000;

// Raw HTML is escaped, and images are disabled, so that showing a label does not load them.
const markdown = new MarkdownIt({ html: false, maxNesting: 20 }).disable('image');

/** Renders the description of a label as inline HTML; escapes a long one without rendering it. */
export function renderLabelDescription(description: string | null): string {
  if (description === null) return '';
  return description.length > RENDERED_LENGTH ? escapeHtml(description) : markdown.renderInline(description);
}
