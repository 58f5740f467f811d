import { renderLabelDescription } from './label-html';

test.each([
  [null, ''],
  ['A **bad** bug', 'A <strong>bad</strong> bug'],
  ['<script>x</script>', '&lt;script&gt;x&lt;/script&gt;'],
  ['![a](https://x/y.png)', '!<a href="https://x/y.png">a</a>'],
  ['[a](javascript:x)', '[a](javascript:x)'],
])('renders %j as %j', (text, html) => expect(renderLabelDescription(text)).toBe(html));

/** Reference reliability 7.3 row 30. */
test.each(['[', '![', '*a ', '_a*', '`', '<', '&', '[a](', '**', '\\', '"', '<a href='])(
  'renders long texts of %j within the CPU limit',
  (piece) => {
    for (const length of [10_000, 500_000]) {
      const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
      const started = process.cpuUsage();
      renderLabelDescription(text);
      // Units: milliseconds. An idle machine takes a few; a quadratic parser takes minutes.
      expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
    }
  },
);
