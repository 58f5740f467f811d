import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { parseTrailers } from './trailers';

const LINES = [
  '',
  '',
  'Title',
  'plain text',
  'Signed-off-by: Wren <w@x>',
  'Co-authored-by: Rook',
  'Key:value',
  'key : value',
  ' continued',
  '(cherry picked from commit abc)',
  'Two words: x',
  'Empty:',
];

/** Output of git, one line for each trailer. */
function parseTrailersByGit(message: string): string {
  const { stdout } = spawnSync('git', ['interpret-trailers', '--parse'], { input: message });
  return stdout.toString();
}

describe('trailers', () => {
  it('are those that git finds', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 9 }), (lines) => {
        const message = `Subject\n\n${lines.join('\n')}\n`;
        const ours = parseTrailers(message)
          .map(({ key, value }) => `${key}: ${value}\n`)
          .join('');
        expect({ message, trailers: ours }).toEqual({ message, trailers: parseTrailersByGit(message) });
      }),
      { numRuns: 300 },
    );
  });

  it('are read in linear time', () => {
    expect(parseTrailers(`T\n\n${'a'.repeat(900_000)}`)).toEqual([]);
    expect(parseTrailers(`T\n\n${'K: v\n v\n'.repeat(100_000)}`)).toHaveLength(100_000);
  });
});
