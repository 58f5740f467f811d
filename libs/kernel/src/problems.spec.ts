import { isLongerThan, lengthProblems, keepFieldsWithProblems, webAddressProblems } from './problems';

it('leaves out fields without a problem', () => {
  expect(keepFieldsWithProblems({ title: ["can't be blank"], link: [] })).toEqual({ title: ["can't be blank"] });
});

it('counts characters, not code units', () => {
  expect(lengthProblems('\u{1F95A}'.repeat(3), 3)).toEqual([]);
  expect(lengthProblems('\u{1F95A}'.repeat(4), 3)).toEqual(['is too long (maximum is 3 characters)']);
});

it.each(['\u{1F95A}', 'a', '\ud83d', '\udd5a', '\ud83da', '\u0301'])(
  'counts the characters of repeated %j as the database does',
  (part) => {
    const text = part.repeat(5);
    const length = [...text].length;
    expect([length - 1, length, length + 1].map((longest) => isLongerThan(text, longest))).toEqual([
      true,
      false,
      false,
    ]);
  },
);

it.each<[string, string[]]>([
  ['https://example.com/a?b#c', []],
  ['http://one-label:3000', []],
  ['https://example.com/%zz', []],
  [`https://x/${'y'.repeat(20)}`, ['is too long (maximum is 29 characters)']],
  ['javascript:alert(1)', ['is blocked: Only allowed schemes are http, https']],
  ['java\nscript:alert(1)', ['must be a valid URL']],
  [' https://example.com', ['must be a valid URL']],
  ['example.com', ['must be a valid URL']],
  ['', ['must be a valid URL']],
])('validates the address %j', (text, problems) => {
  expect(webAddressProblems(text, 29)).toEqual(problems);
});

it('counts the characters of an address', () => {
  expect(webAddressProblems(`https://x/${'\u{1F95A}'.repeat(19)}`, 29)).toEqual([]);
  expect(webAddressProblems(`https://x/${'\u{1F95A}'.repeat(20)}`, 29)).toEqual([
    'is too long (maximum is 29 characters)',
  ]);
});

it('validates the text with its placeholders filled in', () => {
  expect(webAddressProblems('https://%{host}', 29, 'https://x')).toEqual([]);
  expect(webAddressProblems('https://%{host}', 29)).toEqual(['must be a valid URL']);
});
