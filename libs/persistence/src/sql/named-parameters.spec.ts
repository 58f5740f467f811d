import { compileNamedParameters, orderValues, restoreParameterNames } from './named-parameters';

describe('an SQL text is compiled', () => {
  it.each<[why: string, sql: string, text: string, names: string[]]>([
    ['in the order of first use', 'select :b, :a, :b', 'select $1, $2, $1', ['b', 'a']],
    [
      'with casts',
      'select :id::bigint, x::text, (:ids)::int[]',
      'select $1::bigint, x::text, ($2)::int[]',
      ['id', 'ids'],
    ],
    ['with types that are named like parameters', 'select a::id, :id', 'select a::id, $1', ['id']],
    ['at its beginning and end', ':a + :b', '$1 + $2', ['a', 'b']],
    [
      'behind operators',
      'x=:a and y->>:b and z@>:c and w||:d',
      'x=$1 and y->>$2 and z@>$3 and w||$4',
      ['a', 'b', 'c', 'd'],
    ],
    ['not in strings', `select 'HH24:mm', 'it''s :b', :c`, `select 'HH24:mm', 'it''s :b', $1`, ['c']],
    [
      'not in strings with escapes',
      String.raw`select e'\':a', E'\\', :b`,
      String.raw`select e'\':a', E'\\', $1`,
      ['b'],
    ],
    ['with strings behind a type that ends in e', `select date':a', :b`, `select date':a', $1`, ['b']],
    [
      'with escapes that end a string',
      String.raw`select e'a\\', :b, e'\'\\\'', :c`,
      String.raw`select e'a\\', $1, e'\'\\\'', $2`,
      ['b', 'c'],
    ],
    ['not in quoted names', 'select ":a", "x"":b", :c', 'select ":a", "x"":b", $1', ['c']],
    ['not in comments', '-- :a\nselect :b -- :c', '-- :a\nselect $1 -- :c', ['b']],
    ['not in comments within comments', '/* :a /* :b */ :c */ :d', '/* :a /* :b */ :c */ $1', ['d']],
    ['not in dollar quotes', 'do $$ :a $$; do $x$ $$ :b $x$; :c', 'do $$ :a $$; do $x$ $$ :b $x$; $1', ['c']],
    ['with dollars in names', 'select a$b$c, :d', 'select a$b$c, $1', ['d']],
    ['with slices by numbers', 'select a[1:2], (:b)[1:5]', 'select a[1:2], ($1)[1:5]', ['b']],
    ['with calls and columns as bounds', 'select a[1:size(:b)], a[t.x:t.y]', 'select a[1:size($1)], a[t.x:t.y]', ['b']],
    ['with bounds in parentheses', 'select a[(:from):(:to)], :from', 'select a[($1):($2)], $1', ['from', 'to']],
    [
      'with arrays',
      'select array[:a, :b], ARRAY[[:c], [:d]]',
      'select array[$1, $2], ARRAY[[$3], [$4]]',
      ['a', 'b', 'c', 'd'],
    ],
    ['with elements', 'select a[(:at)], jsonb_col[0]', 'select a[($1)], jsonb_col[0]', ['at']],
    ['with keys of JSON', `json_object('a':b, 'c': :d)`, `json_object('a':b, 'c': $1)`, ['d']],
    ['with named arguments', 'f(a := :b, c => :d)', 'f(a := $1, c => $2)', ['b', 'd']],
    ['with a regular expression', `x ~ '(?:a|b)' and y = :c`, `x ~ '(?:a|b)' and y = $1`, ['c']],
    ['without any', 'select 1', 'select 1', []],
  ])('%s', (_, sql, text, names) => expect(compileNamedParameters(sql)).toEqual({ text, names }));

  it('with as many parameters as there are', () => {
    const names = Array.from({ length: 75 }, (_, at) => `p${at}`);
    const sql = `select ${[...names, ...names].map((name) => `:${name}`).join(', ')}`;
    const numbers = names.map((_, at) => `$${at + 1}`);
    expect(compileNamedParameters(sql)).toEqual({ text: `select ${[...numbers, ...numbers].join(', ')}`, names });
  });
});

it.each([
  ['a bound without parentheses', 'select a[1:n]', /:n in .* may be a parameter or a bound/],
  ['an element without parentheses', 'select a[:n]', /:n in .* may be a parameter or a bound/],
  ['a colon behind a name', 'select a:b', /:b in .* may be a parameter or a bound/],
  ['a number', 'select :a, $1', /\$1 has no name/],
  ['an open comment', 'select 1 /* :a', '"/* :a" has no end'],
  ['an open string', `select ':a`, `"':a" has no end`],
  ['an open string with escapes', String.raw`select e':a\'`, 'has no end'],
  ['an open dollar quote', 'do $x$ :a', '"$x$ :a" has no end'],
])('%s is refused', (_, sql, message) => expect(() => compileNamedParameters(sql)).toThrow(message));

it('values are ordered by the names, and a missing one is refused', () => {
  expect(orderValues(['b', 'a'], { a: 1, b: null, c: 3 }, 'birds')).toEqual([null, 1]);
  expect(() => orderValues(['nest'], { nets: 1 }, 'birds')).toThrow('birds lacks a value of :nest');
});

it('a compiled text is shown with its names again', () => {
  const { text, names } = compileNamedParameters('select :b::int, :a, :b');
  expect(restoreParameterNames(text, names)).toBe('select :b::int, :a, :b');
});
