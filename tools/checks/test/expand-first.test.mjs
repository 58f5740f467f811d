/** Migrations that break the previous release are caught; those that expand first, or name the reason, are not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { migrationsOf, migrationViolationsOf } from '../expand-first.mjs';

/**
 * A file with one migration.
 * @param {string} up
 * @param {{ comment?: string, number?: number, before?: string, down?: string }} [more]
 */
const migrationSource = (
  up,
  { comment = '/** A change. */', number = 1767225600002, before = '', down = 'select 1' } = {},
) => `
import type { MigrationInterface, QueryRunner } from 'typeorm';
${before}
${comment}
export class Change${number} implements MigrationInterface {
  readonly name = 'Change${number}';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(${up});
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('${down}');
  }
}
`;
/** @param {string[]} texts @param {string | null} [release] */
const violations = (texts, release = '0.2.0') =>
  migrationViolationsOf(texts.flatMap(migrationsOf), 1767225600001, release);

/** Statements that the code of the previous release does not survive. @type {[sql: string, problem: RegExp][]} */
const BAD = [
  [`'drop table pins'`, /drops of pins/],
  [`'drop table if exists pins, needles cascade'`, /drops of needles/],
  [`'drop view pinned'`, /drops: drop view/],
  [`'alter table pins drop column colour'`, /drops a column of pins/],
  [`'alter table pins drop colour'`, /drops a column of pins/],
  [`'alter table if exists only pins add column a text, drop column if exists b'`, /drops a column of pins/],
  [`'alter table pins rename column a to b'`, /renames of pins/],
  [`'alter table pins rename to needles'`, /renames of pins/],
  [`'alter table pins alter column a type bigint'`, /changes a type of pins/],
  [`'alter table pins alter a set data type bigint using a::bigint'`, /changes a type of pins/],
  [`'alter table pins alter column a drop default'`, /drops a default of pins/],
  [`'alter table pins alter column a set not null'`, /requires a value of pins/],
  [`'alter table pins add column a integer not null'`, /required column without default of pins/],
  [`'ALTER TABLE pins\\n  ADD a numeric(10, 2) NOT NULL, add b text'`, /required column without default of pins/],
  [`'alter table pins add constraint ck_pins check (a > 0)'`, /adds a constraint of pins/],
  [`'alter table pins add unique (a, b)'`, /adds a constraint of pins/],
  [`'create unique index concurrently uq_pins on pins (a)'`, /adds a unique index of pins/],
  ['`update pins set a = 1; -- then\\n alter table pins drop column b`', /drops a column of pins/],
  ['`create table t (a text); alter table pins drop column b;`', /drops a column of pins/],
  ['`alter table ${TABLE} drop column b`', /drops a column of placeholder/],
];

/** Statements that expand. */
const GOOD = [
  `'create table needles (id bigint primary key, a text not null unique, check (id > 0))'`,
  `'alter table pins add column a text, add column b integer not null default 0'`,
  `'alter table pins add column a bigint not null generated always as identity'`,
  `'alter table pins alter column a drop not null, alter column b set default 1'`,
  `'alter table pins drop constraint ck_pins'`,
  `'create index ix_pins on pins (a)'`,
  `'drop index ix_pins'`,
  `"insert into pins (a) values ('drop table pins; alter table pins drop column a')"`,
  '`create function f() returns trigger language plpgsql as $$ begin delete from pins; return new; end $$`',
  '`create table needles (id bigint); alter table needles add column a text not null; drop table needles`',
];

describe('a migration is refused', () => {
  for (const [sql, problem] of BAD) it(sql, () => assert.match(violations([migrationSource(sql)]).join('; '), problem));

  it('when its statement is a constant of the file', () => {
    const text = migrationSource('STATEMENT', { before: `const STATEMENT = 'alter table pins drop column a';` });
    assert.match(violations([text]).join('; '), /drops a column of pins/);
  });

  it('when it contracts what the previous release still uses, or names no release', () => {
    const contracting = (/** @type {string} */ line) =>
      migrationSource(`'alter table pins drop column a'`, { comment: `/**\n * A change.\n * ${line}\n */` });
    assert.deepEqual(violations([contracting('Contracts: 0.2.0')]), []);
    assert.deepEqual(violations([contracting('Contracts: 0.1.9')]), []);
    assert.equal(violations([contracting('Contracts: 0.3.0')]).length, 1);
    assert.equal(violations([contracting('Contracts: soon')]).length, 1);
    assert.equal(violations([contracting('Contracts: 0.1.0')], null).length, 1);
    assert.equal(violations([contracting('Former writes: none.')]).length, 1);
  });
});

describe('a migration passes', () => {
  for (const sql of GOOD) it(sql, () => assert.deepEqual(violations([migrationSource(sql)]), []));

  it('when the previous release has it', () => {
    assert.deepEqual(violations([migrationSource(`'drop table pins'`, { number: 1767225600001 })]), []);
  });

  it('when it undoes in `down` only', () => {
    assert.deepEqual(violations([migrationSource(`'select 1'`, { down: 'drop table pins' })]), []);
  });

  it('when an earlier migration of the same release created the table', () => {
    const created = migrationSource(`'create table needles (id bigint)'`, { number: 1767225600002 });
    const changed = migrationSource(`'alter table needles drop column id'`, { number: 1767225600003 });
    assert.deepEqual(violations([changed, created]), []);
    assert.equal(violations([changed]).length, 1);
  });

  it('when its new constraint holds for writes of the previous release, by a reason', () => {
    const comment = '/**\n * A change.\n * Former writes: they leave the column null.\n */';
    assert.deepEqual(
      violations([migrationSource(`'alter table pins add constraint ck_pins check (a > 0)'`, { comment })]),
      [],
    );
  });
});
