import { renderMarkdown } from './markdown';

it.each(['//a.co/', '[', '~~a', 'http://', '![', '<', '`', '*_', '> '])('renders a long text of %s in time', (part) => {
  const startedAt = performance.now();
  renderMarkdown(part.repeat(Math.floor(20_000 / part.length)));
  expect(performance.now() - startedAt).toBeLessThan(2000);
});

it.each([
  'javascript:x',
  'data:text/html,x',
  'data:image/png;base64,AA',
  'vbscript:x',
  'ms-word:x',
  'blob:x',
  'ftp://a',
  'view-source:x',
])('makes no link of %s', (url) => expect(String(renderMarkdown(`[x](${url}) ![x](${url})`))).not.toContain('<a '));

it('makes links of web addresses and of paths, without a picture', () => {
  expect(String(renderMarkdown('[x](https://a.test) [y](/b/c) ![z](https://a.test/z.png)'))).toBe(
    '<p><a href="https://a.test" rel="nofollow noopener">x</a> <a href="/b/c" rel="nofollow noopener">y</a> <a href="https://a.test/z.png" rel="nofollow noopener">z</a></p>\n',
  );
});

it('shows longer texts as they are', () => {
  expect(String(renderMarkdown(`<b>${'x'.repeat(20_000)}`))).toMatch(/^<pre>&lt;b&gt;x+<\/pre>$/);
});
