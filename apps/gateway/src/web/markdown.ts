import { raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import MarkdownIt from 'markdown-it';

/**
 * Escapes HTML in the text, and leaves links other than http, https, mailto and relative ones as text, so nothing of it
 * is executed. Images become links: loading a picture from another host would reveal the reader to it.
 */
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true });
// Finding links without a scheme takes quadratic time.
markdown.linkify.add('//', null);
markdown.validateLink = (url) => !/^\s*[a-z][a-z0-9+.-]*:/i.test(url) || /^\s*(?:https?|mailto):/i.test(url);
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index]!;
  const { escapeHtml } = markdown.utils;
  const source = String(token.attrGet('src') ?? '');
  return `<a href="${escapeHtml(source)}" rel="nofollow noopener">${escapeHtml(token.content || source)}</a>`;
};
const renderLink = markdown.renderer.rules.link_open;
markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
  tokens[index]!.attrSet('rel', 'nofollow noopener');
  return renderLink ? renderLink(tokens, index, options, env, self) : self.renderToken(tokens, index, options);
};

/** Longer texts are shown as plain text, since their structure could take long to find. Units: characters. */
const MAX_LENGTH = 20_000;

/** Renders Markdown that a person wrote as safe HTML. */
export function renderMarkdown(text: string | null): HtmlEscapedString {
  if (!text) return raw('');
  if (text.length > MAX_LENGTH) return raw(`<pre>${markdown.utils.escapeHtml(text)}</pre>`);
  return raw(markdown.render(text));
}
