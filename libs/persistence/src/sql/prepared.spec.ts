import { isUsualPage, CachedStatements, prepareStatement, statementByText } from './prepared';

it('keeps a statement by name: its text is composed once, and values without a parameter are omitted', () => {
  const kept = new CachedStatements();
  const make = jest.fn(() => ({ text: 'select $3::int + $1::int as sum', values: [] }));
  const first = kept.findOrCompose('spec-kept', [1, 2, 3], make);
  expect(first).toEqual({ name: 'spec-kept', text: 'select $2::int + $1::int as sum', values: [1, 3] });
  expect(kept.findOrCompose('spec-kept', [4, 5, 6], make)).toEqual({ ...first, values: [4, 6] });
  expect(make).toHaveBeenCalledTimes(1);
});

it('refuses two texts of one name in the process, also from two instances', () => {
  new CachedStatements().findOrCompose('spec-twice', [], () => ({ text: 'select 1', values: [] }));
  expect(() =>
    new CachedStatements().findOrCompose('spec-twice', [], () => ({ text: 'select 2', values: [] })),
  ).toThrow('two statements are named');
  expect(() => prepareStatement('spec-twice', 'select 3')).toThrow('two statements are named');
});

it('names composed texts after their content', () => {
  expect(statementByText('spec', 'select :a', { a: 1 })).toMatchObject({
    text: 'select $1',
    values: [1],
    names: ['a'],
  });
  expect(statementByText('spec', 'select 1', [])).toEqual(statementByText('spec', 'select 1', []));
  expect(statementByText('spec', 'select 2', []).name).not.toBe(statementByText('spec', 'select 1', []).name);
});

it('composes a statement without a name at each call, with its own values', () => {
  const kept = new CachedStatements();
  const make = jest.fn(() => ({ text: 'select $2::int', values: [1, 2] }));
  for (const _ of [1, 2]) expect(kept.findOrCompose(null, [1], make)).toEqual({ text: 'select $1::int', values: [2] });
  expect(make).toHaveBeenCalledTimes(2);
});

it.each([
  [1, 20, true],
  [1, 50, true],
  [1, 100, true],
  [1, 21, false],
  [2, 20, false],
])('page %i of %i rows is usual: %s', (page, perPage, expected) => {
  expect(isUsualPage({ page, perPage })).toBe(expected);
});
