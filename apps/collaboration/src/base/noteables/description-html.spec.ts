import { renderDescriptionHtml } from './description-html';

test('a short description does not become a long page', () => {
  const table = `${'|a'.repeat(300)}\n${'|-'.repeat(300)}\n${'|\n'.repeat(230)}`;
  expect(renderDescriptionHtml(table).length).toBeLessThan(2 * table.length);
});

test.each([
  ['a script', '<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n'],
  ['a link that is a script', '[x](javascript:alert(1))', '<p>[x](javascript:alert(1))</p>\n'],
  ['a picture', '![x](http://tracker.test/a.png)', '<p>!<a href="http://tracker.test/a.png">x</a></p>\n'],
])('%s is not active', (_, text, html) => {
  expect(renderDescriptionHtml(text)).toBe(html);
});
