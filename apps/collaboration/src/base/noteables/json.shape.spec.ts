import { bool, text } from '@rookery/api-v4';
import { jsonArraySql, json, beginJsonShape, literalSql, jsonTextsSql } from './json.shape';

const items = beginJsonShape<{ readonly item: string }>('Item').fields({
  id: [json.int, ({ item }) => `${item}.id`],
  note: [json.constant(text), () => "100% of it's"],
  ok: [json.constant(bool), () => true],
});
const shape = items.toSql({ item: 't' });

test('constants are part of the template, percent signs and quotes are escaped', () => {
  expect(shape.sql).toBe(`format('{"id":%s,"note":"100%% of it''s","ok":true}', t.id)`);
});

test('the same declaration yields the documented schema', () => {
  expect(items.presenter.schema).toMatchObject({ type: 'object', required: ['id', 'note', 'ok'] });
});

test('a longer shape has the fields of the shorter one first', () => {
  const longer = items.extend<{ readonly item: string; readonly name: string }>('LongItem').fields({
    name: [json.text, ({ name }) => name],
  });
  expect(longer.toSql({ item: 't', name: 't.n' }).sql).toBe(
    `format('{"id":%s,"note":"100%% of it''s","ok":true,"name":%s}', t.id, to_json(t.n))`,
  );
});

test('conditional fields bring their own comma', () => {
  const longer = items
    .extend<{ readonly item: string; readonly shown: string }>('OpenItem')
    .fields({ name: [json.text, ({ item }) => `${item}.n`] }, ({ shown }) => shown);
  expect(longer.toSql({ item: 't', shown: 't.open' }).sql).toBe(
    `format('{"id":%s,"note":"100%% of it''s","ok":true%s}', t.id, ` +
      `case when t.open then format(',"name":%s', to_json(t.n)) end)`,
  );
  expect(longer.presenter.schema).toMatchObject({ required: ['id', 'note', 'ok'], properties: { name: {} } });
});

test('a lookup that several fields share runs once, also in a longer shape', () => {
  const found = ({ of }: { readonly of: string }): string =>
    `${jsonTextsSql(items, { of: { item: 't' }, from: `from items t where t.of = ${of}` }, 't.id')} held`;
  const owned = beginJsonShape<{ readonly of: string }>('Owned', found).fields({
    all: [json.list(items), () => 'held.texts'],
    one: [json.first(items), () => 'held.texts'],
  });
  const held = `(select array_agg(${shape.sql} order by t.id) as texts from items t where t.of = o.id) held`;
  const written = `(select format('{"all":[%s],"one":%s', array_to_string(held.texts, ','), coalesce((held.texts)[1], 'null'))`;
  expect(owned.toSql({ of: 'o.id' }).sql).toBe(`${written.replace(`"one":%s'`, `"one":%s}'`)} from ${held})`);
  expect(owned.extend<{ readonly of: string }>('Longer').fields({}).toSql({ of: 'o.id' }).sql).toContain(
    ` from ${held})`,
  );
});

test('a lookup by a null id is skipped', () => {
  const owned = beginJsonShape<{ readonly of: string }>('Owned').fields({
    item: [json.found(items), ({ of }) => ({ of: { item: 't' }, from: `from items t where t.id = ${of}`, by: of })],
  });
  expect(owned.toSql({ of: 'o.item_id' }).sql).toContain(
    `coalesce(case when o.item_id is not null then (select ${shape.sql} from items t where t.id = o.item_id) end, 'null')`,
  );
});

test('a list is one text, empty without rows', () => {
  expect(jsonArraySql(shape, 'from items t', 't.id')).toBe(
    `(select '[' || coalesce(string_agg(${shape.sql}, ',' order by t.id), '') || ']' from items t)`,
  );
});

test('quotes in a literal are doubled', () => {
  expect(literalSql(`http://x/'y\\`)).toBe(`'http://x/''y\\'`);
});
