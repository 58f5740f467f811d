import { splitLines } from './line-content';
import { parseSuggestions } from './parse-suggestions';

const FILE = 'one\ntwo\nthree\nfour\nfive\n';
const parseInFile = (body: string, line = 3, file = FILE) =>
  parseSuggestions(body, { lines: splitLines(Buffer.from(file)), line });
const suggestionBlock = (text: string, range = '', fence = '```'): string =>
  `${fence}suggestion${range}\n${text}\n${fence}`;

test.each([
  ['no range', '', 0, 0, 'three\n'],
  ['lines above', ':-1', 1, 0, 'two\nthree\n'],
  ['lines below', ':+1', 0, 1, 'three\nfour\n'],
  ['both', ':-1+1', 1, 1, 'two\nthree\nfour\n'],
  ['more than there are', ':-99+99', 99, 99, FILE],
  ['more than is allowed', ':-999+999', 100, 100, FILE],
  ['the wrong order', ':+1-1', 0, 0, 'three\n'],
  ['a blank', ': -1', 0, 0, 'three\n'],
  ['letters', ':x', 0, 0, 'three\n'],
])('a range of %s', (_, range, linesAbove, linesBelow, fromContent) => {
  expect(parseInFile(suggestionBlock('x', range))).toEqual([{ linesAbove, linesBelow, fromContent, toContent: 'x\n' }]);
});

test.each<[string, string, string | null]>([
  ['tildes', suggestionBlock('x', '', '~~~'), 'x\n'],
  ['a longer fence with a shorter one inside', suggestionBlock('```\nx\n```', '', '````'), '```\nx\n```\n'],
  ['no end', '```suggestion\nx', 'x\n'],
  ['a list', `- item\n\n  ${suggestionBlock('x').replaceAll('\n', '\n  ')}`, 'x\n'],
  ['a quotation', `> ${suggestionBlock('x').replaceAll('\n', '\n> ')}`, 'x\n'],
  ['text around', `Better:\n${suggestionBlock('x')}\nOr not.`, 'x\n'],
  ['words after the language', '```suggestion x y\nz\n```', 'z\n'],
  ['several lines', suggestionBlock('x\n\ny'), 'x\n\ny\n'],
  ['no text', '```suggestion\n```', ''],
  ['blank text', suggestionBlock('  \n\t'), ''],
  ['another case', '```Suggestion\nx\n```', null],
  ['a longer word', '```suggestions\nx\n```', null],
  ['another language', '```js\nx\n```', null],
  ['indented code', '    suggestion\n    x', null],
  ['a code span', '`suggestion`', null],
])('a block with %s', (_, body, toContent) => {
  expect(parseInFile(body).map((one) => one.toContent)).toEqual(toContent === null ? [] : [toContent]);
});

test.each([
  ['CRLF', 'one\r\ntwo\r\n', ':-1', 'x\ny', 'x\r\ny\r\n'],
  ['mixed ends', 'one\ntwo\r\n', ':-1', 'x\ny', 'x\ny\r\n'],
  ['no end of the last line', 'one\ntwo', '', 'x\ny', 'x\ny'],
  ['a lonely carriage return', 'one\ntwo\r', '', 'x', 'x\r'],
])('a file with %s keeps its ends', (_, file, range, text, toContent) => {
  expect(parseInFile(suggestionBlock(text, range), 2, file)).toMatchObject([{ toContent }]);
});

test('several blocks are several suggestions, at most a hundred', () => {
  expect(parseInFile(`${suggestionBlock('x')}\n${suggestionBlock('y', ':-1')}`)).toMatchObject([
    { toContent: 'x\n' },
    { toContent: 'y\n' },
  ]);
  expect(parseInFile(`${suggestionBlock('x')}\n`.repeat(101))).toHaveLength(100);
});

test('suggestions keep at most a mebibyte of replaced lines', () => {
  const file = `${'x'.repeat(300_000)}\n`.repeat(3);
  const sizes = (count: number, range: string) =>
    parseInFile(Array(count).fill(suggestionBlock('y', range)).join('\n'), 2, file).map(
      (one) => one.fromContent.length,
    );
  expect(sizes(90, '')).toEqual([300_001, 300_001, 300_001]);
  expect(sizes(2, ':-1+1')).toEqual([900_003]);
});
