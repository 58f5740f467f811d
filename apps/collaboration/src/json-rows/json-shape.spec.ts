import { bool, text } from '@rookery/api-v4';
import { arraySql, json, jsonShape, literalSql } from './json-shape';

const shape = jsonShape('Thing', {
  id: json.int('t.id'),
  note: json.constant(text, "100% of it's"),
  ok: json.constant(bool, true),
});

test('constants are part of the template, percent signs and quotes are escaped', () => {
  expect(shape.sql).toBe(`format('{"id":%s,"note":"100%% of it''s","ok":true}', t.id)`);
});

test('the same declaration yields the documented schema', () => {
  expect(shape.presenter.schema).toMatchObject({ type: 'object', required: ['id', 'note', 'ok'] });
});

test('lists are one text, empty when there is no row', () => {
  expect(arraySql(shape, 'from things t', 't.id')).toBe(
    `(select '[' || coalesce(string_agg(${shape.sql}, ',' order by t.id), '') || ']' from things t)`,
  );
});

test('quotes in a literal are doubled', () => {
  expect(literalSql(`http://x/'y\\`)).toBe(`'http://x/''y\\'`);
});
