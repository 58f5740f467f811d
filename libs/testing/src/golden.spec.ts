import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectGoldenSql } from './golden';

let folder: string;
let golden: string;
beforeEach(() => {
  delete process.env['UPDATE_GOLDEN'];
  folder = mkdtempSync(join(tmpdir(), 'golden-'));
  golden = join(folder, 'birds', 'birds-one');
});
afterEach(() => rmSync(folder, { recursive: true }));

const statementOf = (text: string) => ({ name: 'birds_one', text, names: ['nest', 'name'], values: [7, 'wren'] });
const TEXT = `select b.id from birds b where b.nest_id = $1::bigint and b.name in ($2, 'a  b')`;

/** Writes the golden file, as `UPDATE_GOLDEN=1` does. */
function writeGolden(statement: ReturnType<typeof statementOf>): void {
  process.env['UPDATE_GOLDEN'] = '1';
  expectGoldenSql(golden, statement);
  delete process.env['UPDATE_GOLDEN'];
}

it('is formatted, with the names of parameters', () => {
  writeGolden(statementOf(TEXT));
  expect(readFileSync(`${golden}.sql`, 'utf8')).toBe(`-- birds_one: $1 nest, $2 name
select
  b.id
from
  birds b
where
  b.nest_id = :nest::bigint
  and b.name in (:name, 'a  b')
`);
});

it('does not depend on blanks between words', () => {
  writeGolden(statementOf(TEXT));
  expectGoldenSql(golden, statementOf(TEXT.replaceAll(' where', '\n\n    where')));
});

it.each([
  ['a word', TEXT.replace('bigint', 'integer')],
  ['a parameter', TEXT.replace('$2', '$1')],
  ['a text, if only by a blank', TEXT.replace('a  b', 'a b')],
])('differs by %s', (_, text) => {
  writeGolden(statementOf(TEXT));
  expect(() => expectGoldenSql(golden, statementOf(text))).toThrow();
});

it('differs by the order of the parameters', () => {
  writeGolden(statementOf(TEXT));
  const swapped = TEXT.replace('$1', '$0').replace('$2', '$1').replace('$0', '$2');
  expect(() => expectGoldenSql(golden, { ...statementOf(swapped), names: ['name', 'nest'] })).toThrow();
});

it('exists only for prepared statements', () => {
  const { name: _, ...unprepared } = statementOf(TEXT);
  expectGoldenSql(golden, unprepared);
  expect(() => readFileSync(`${golden}.sql`)).toThrow('ENOENT');
});
