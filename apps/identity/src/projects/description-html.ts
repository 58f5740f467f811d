import MarkdownIt from 'markdown-it';

// Raw HTML stays text: descriptions are written by people.
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false });

/** The description as the web shows it; empty when there is none. */
export function descriptionHtml(description: string | null): string {
  return description ? markdown.render(description).trimEnd() : '';
}
