import {
  likePattern,
  filter,
  toStatement,
  similarityOrderSql,
  parameterNumbers,
  renumberParameters,
} from './conditions';
import type { Filter } from './conditions';

/** Returns the condition of a filter for a value, with its bound values. */
function conditionWithValues<V>(filter: Filter<V>, value: V): [string | false, unknown[]] {
  const values: unknown[] = [];
  return [filter(value, (one) => `$${values.push(one)}`, {}), values];
}

test.each<[string, [string | false, unknown[]], [string | false, unknown[]]]>([
  ['equals', conditionWithValues(filter.equals('t.state'), 'open'), ['t.state = $1', ['open']]],
  ['compares', conditionWithValues(filter.compares('t.id', '<='), 7), ['t.id <= $1', [7]]],
  [
    'contains',
    conditionWithValues(filter.contains('t.a', 't.b'), 'x_'),
    ['(lower(t.a) like lower($1) or lower(t.b) like lower($1))', ['%x\\_%']],
  ],
  [
    'containsIn',
    conditionWithValues(filter.containsIn({ short: ['t.a'], long: ['t.b'] }), '50%.'),
    [
      'exists (select 1 from (select lower(t.a) as short_0, lower(left(t.b, 65536)) as long_0 offset 0) folded ' +
        'where (folded.short_0 like lower($1) or folded.long_0 ~ lower($2)))',
      ['%50\\%.%', '***=50%.'],
    ],
  ],
  ['containsIn nothing', conditionWithValues(filter.containsIn({ short: ['t.a'], long: [] }), ''), [false, []]],
  ['contains nothing', conditionWithValues(filter.contains('t.a'), ''), [false, []]],
  ['noneOf', conditionWithValues(filter.noneOf('t.id'), [1, 2]), ['t.id <> all($1::bigint[])', [[1, 2]]]],
  ['noneOf none', conditionWithValues(filter.noneOf('t.id'), []), [false, []]],
  ['when', conditionWithValues(filter.when('t.open'), true), ['t.open', []]],
  ['when not', conditionWithValues(filter.when('t.open'), false), [false, []]],
  ['whether', conditionWithValues(filter.whether('t.open'), true), ['t.open', []]],
  ['whether not', conditionWithValues(filter.whether('t.open'), false), ['not t.open', []]],
])('filter %s', (_, given, expected) => expect(given).toEqual(expected));

test('pattern characters in the searched text match themselves', () => {
  expect(likePattern('50%_\\')).toBe('%50\\%\\_\\\\%');
});

test('nearness sorts equal texts first, then those that begin with it, by any of the columns', () => {
  expect(similarityOrderSql('$1', ['t.a', 't.b'])).toBe(
    'case when lower(t.a) = lower($1) or lower(t.b) = lower($1) then 0 ' +
      'when starts_with(lower(t.a), lower($1)) or starts_with(lower(t.b), lower($1)) then 1 else 2 end',
  );
});

describe('values without a parameter', () => {
  it('are left out, and the others keep their order', () => {
    expect(
      toStatement({
        text: 'a = $12 and b = $3 or c = $12',
        values: Array.from({ length: 12 }, (_, index) => `v${index + 1}`),
      }),
    ).toEqual({
      text: 'a = $2 and b = $1 or c = $2',
      values: ['v3', 'v12'],
    });
  });

  it('change nothing in the text if they come after all used ones', () => {
    const text = 'a = $2 and b = $1';
    expect(toStatement({ text, values: [1, 2, 3] })).toEqual({ text, values: [1, 2] });
    expect(renumberParameters(text, parameterNumbers(text))).toBe(text);
  });
});
