import { escapeHtml } from '@rookery/kernel';
import MarkdownIt from 'markdown-it';

/** Longer texts are not rendered, because hostile ones would take too long. Units: UTF-16 code units. */
const RENDERED_LENGTH = 100_000;

// Raw HTML is escaped, and images are disabled, so that showing a description does not load them. Tables are disabled because
// missing cells are filled in: a text of 2 KB would become 65,536 cells.
const markdown = new MarkdownIt({ html: false, maxNesting: 20 }).disable(['image', 'table']);

/** Renders a description as HTML; escapes a long one without rendering it. */
export function renderDescriptionHtml(description: string | null): string {
  if (description === null) return '';
  return description.length > RENDERED_LENGTH ? escapeHtml(description) : markdown.render(description);
}

/** Renders a title as inline HTML, without a paragraph around it. */
export function renderTitleHtml(title: string): string {
  return markdown.renderInline(title);
}
