import { bool, text } from '@rookery/api-v4';
import { arraySql, json, jsonShape, literalSql, textsSql } from './json.shape';

const things = jsonShape<{ readonly thing: string }>('Thing').fields({
  id: [json.int, ({ thing }) => `${thing}.id`],
  note: [json.constant(text), () => "100% of it's"],
  ok: [json.constant(bool), () => true],
});
const shape = things.over({ thing: 't' });

test('constants are part of the template, percent signs and quotes are escaped', () => {
  expect(shape.sql).toBe(`format('{"id":%s,"note":"100%% of it''s","ok":true}', t.id)`);
});

test('the same declaration yields the documented schema', () => {
  expect(things.presenter.schema).toMatchObject({ type: 'object', required: ['id', 'note', 'ok'] });
});

test('a longer shape has the fields of the shorter one first', () => {
  const longer = things.extend<{ readonly thing: string; readonly name: string }>('LongThing').fields({
    name: [json.text, ({ name }) => name],
  });
  expect(longer.over({ thing: 't', name: 't.n' }).sql).toBe(
    `format('{"id":%s,"note":"100%% of it''s","ok":true,"name":%s}', t.id, to_json(t.n))`,
  );
});

test('what is left out where a condition fails brings its own comma', () => {
  const longer = things
    .extend<{ readonly thing: string; readonly shown: string }>('OpenThing')
    .fields({ name: [json.text, ({ thing }) => `${thing}.n`] }, ({ shown }) => shown);
  expect(longer.over({ thing: 't', shown: 't.open' }).sql).toBe(
    `format('{"id":%s,"note":"100%% of it''s","ok":true%s}', t.id, ` +
      `case when t.open then format(',"name":%s', to_json(t.n)) end)`,
  );
  expect(longer.presenter.schema).toMatchObject({ required: ['id', 'note', 'ok'], properties: { name: {} } });
});

test('what several fields need is looked up once, and by a longer shape too', () => {
  const found = ({ of }: { readonly of: string }): string =>
    `${textsSql(things, { of: { thing: 't' }, from: `from things t where t.of = ${of}` }, 't.id')} held`;
  const owned = jsonShape<{ readonly of: string }>('Owned', found).fields({
    all: [json.list(things), () => 'held.texts'],
    one: [json.first(things), () => 'held.texts'],
  });
  const held = `(select array_agg(${shape.sql} order by t.id) as texts from things t where t.of = o.id) held`;
  const written = `(select format('{"all":[%s],"one":%s', array_to_string(held.texts, ','), coalesce((held.texts)[1], 'null'))`;
  expect(owned.over({ of: 'o.id' }).sql).toBe(`${written.replace(`"one":%s'`, `"one":%s}'`)} from ${held})`);
  expect(owned.extend<{ readonly of: string }>('Longer').fields({}).over({ of: 'o.id' }).sql).toContain(
    ` from ${held})`,
  );
});

test('a look by an id that is null is not begun', () => {
  const owned = jsonShape<{ readonly of: string }>('Owned').fields({
    thing: [json.found(things), ({ of }) => ({ of: { thing: 't' }, from: `from things t where t.id = ${of}`, by: of })],
  });
  expect(owned.over({ of: 'o.thing_id' }).sql).toContain(
    `coalesce(case when o.thing_id is not null then (select ${shape.sql} from things t where t.id = o.thing_id) end, 'null')`,
  );
});

test('lists are one text, empty when there is no row', () => {
  expect(arraySql(shape, 'from things t', 't.id')).toBe(
    `(select '[' || coalesce(string_agg(${shape.sql}, ',' order by t.id), '') || ']' from things t)`,
  );
});

test('quotes in a literal are doubled', () => {
  expect(literalSql(`http://x/'y\\`)).toBe(`'http://x/''y\\'`);
});
