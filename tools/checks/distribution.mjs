#!/usr/bin/env node
/**
 * Checks the plan of distribution with Citus (docs/scaling.md) against schemas and hot statements, without a cluster. Each
 * table has a key, or is a reference table or local. In a distributed table, the key is a required column, each unique rule
 * contains it, and foreign keys stay within a part or lead to a reference table. Hot statements filter or join each
 * distributed table by its key. Exceptions are in the same page with their cost; an exception without a violation fails.
 *
 *   node tools/checks/distribution.mjs             prints violations and exceptions without one, and fails if there is one
 *   node tools/checks/distribution.mjs --all       prints the violations that the page names, too
 *
 * Schemas are in `test/golden/schema/keys.txt` of a service, which a database spec compares with the migrated catalog; hot
 * statements are the other golden files.
 *
 * @import { Exceptions, Placement, Plan, Rule } from './distribution-plan.mjs'
 * @typedef {{ kind: string, name: string, columns: string[], to: string | null, toColumns: string[] }} SchemaRule
 * @typedef {{ required: string[], optional: string[], rules: SchemaRule[] }} TableSchema
 * @typedef {Map<string, TableSchema>} Schema  by name of the table
 * @typedef {{ name: string, sql: string }} HotStatement
 * @typedef {{ rule: Rule, subject: string, table: string, text: string }} Violation
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placementOf, parseDistributionPlan } from './distribution-plan.mjs';
import { tablesWithoutKeyCondition } from './key-conditions.mjs';

const UNIQUE = ['primary key', 'unique', 'exclusion'];

/**
 * The tables of a golden file of keys.
 * @param {string} text
 * @returns {Schema}
 */
export function parseSchemaKeys(text) {
  /** @type {Schema} */
  const schema = new Map();
  /** @type {TableSchema} */
  let table = { required: [], optional: [], rules: [] };
  for (const line of text.split('\n')) {
    if (/^\w/.test(line)) schema.set(line, (table = { required: [], optional: [], rules: [] }));
    const [, presence, columns = ''] = /^ {2}(required|optional) (.*)$/.exec(line) ?? [];
    if (presence === 'required' || presence === 'optional') table[presence] = columns.split(', ');
    const rule = /^ {2}([a-z ]+?) (\S+) \((.*?)\)(?: to (\w+) \((.*)\))?$/.exec(line);
    if (!rule) continue;
    const [, kind = '', name = '', own = '', to = null, theirs = ''] = rule;
    table.rules.push({ kind, name, columns: own.split('; '), to, toColumns: theirs.split('; ') });
  }
  return schema;
}

/**
 * Tables of a service that the page does not name, and names of tables that do not exist.
 * @param {Plan} plan
 * @param {string} service
 * @param {Schema} schema
 */
export function unplacedTables(plan, service, schema) {
  const missing = [...schema.keys()].filter((table) => !placementOf(plan, service, table));
  const unknown = [...(plan.placements.get(service)?.keys() ?? [])].filter((table) => !schema.has(table));
  return [
    ...missing.map((table) => `${service}: ${table} has no key in docs/scaling.md`),
    ...unknown.map((table) => `${service}: docs/scaling.md names ${table}, which is no table`),
  ];
}

/**
 * Rules of a schema that its distribution breaks. A table without the column of its key has this one violation only, because
 * all others follow from it.
 * @param {Plan} plan
 * @param {string} service
 * @param {Schema} schema
 * @returns {Violation[]}
 */
export function schemaViolations(plan, service, schema) {
  return [...schema].flatMap(([table, { required, optional, rules }]) => {
    const placement = placementOf(plan, service, table);
    const key = distributionKeyOf(placement);
    /** @type {(rule: Rule, subject: string, problem: string) => Violation} */
    const violation = (rule, subject, problem) => ({ rule, subject, table, text: `${service}: ${problem}` });
    if (key !== undefined && !required.includes(key) && !optional.includes(key))
      return [violation('no key', table, `${table} has no column ${key}, its key`)];
    const empty = key !== undefined && optional.includes(key);
    return [
      ...(empty ? [violation('optional key', table, `${table}.${key} is the key and may be null`)] : []),
      ...rules
        .filter((rule) =>
          rule.to === null
            ? isUniqueRuleWithoutDistributionKey(rule, key)
            : canForeignKeyReferenceOtherPart(rule, plan, service, schema, placement),
        )
        .map(({ kind, name, columns }) =>
          violation(
            'rule',
            name,
            `${kind} ${name} of ${table} (${columns.join(', ')}) ${key ? `leaves ${key} out` : 'leads to a distributed table'}`,
          ),
        ),
    ];
  });
}

/** @param {Placement | undefined} placement */
function distributionKeyOf(placement) {
  return placement?.kind === 'distributed' ? placement.key : undefined;
}

/**
 * Whether a unique rule of a distributed table cannot be checked within one part.
 * @param {SchemaRule} rule
 * @param {string | undefined} key
 */
function isUniqueRuleWithoutDistributionKey({ kind, columns }, key) {
  return key !== undefined && UNIQUE.includes(kind) && !columns.includes(key);
}

/** @type {(rule: SchemaRule, plan: Plan, service: string, schema: Schema, from: Placement | undefined) => boolean} */
function canForeignKeyReferenceOtherPart({ columns, to, toColumns }, plan, service, schema, from) {
  const target = placementOf(plan, service, to ?? '');
  if (from?.kind !== 'distributed') return target?.kind === 'distributed';
  if (target?.kind !== 'distributed') return target?.kind !== 'reference';
  const at = columns.indexOf(from.key);
  return at < 0 || toColumns[at] !== target.key;
}

/**
 * Distributed tables that hot statements neither filter nor join by their key, once for each statement and table.
 * @param {Plan} plan
 * @param {string} service
 * @param {Schema} schema
 * @param {HotStatement[]} statements
 * @returns {Violation[]}
 */
export function statementViolations(plan, service, schema, statements) {
  /** @param {string} table */
  const columnsOf = (table) => {
    const { required = [], optional = [] } = schema.get(table) ?? {};
    return [...required, ...optional];
  };
  const tables = {
    columnsOf,
    /** @param {string} table */
    keyOf: (table) => {
      const key = schema.has(table) ? distributionKeyOf(placementOf(plan, service, table)) : undefined;
      return key !== undefined && columnsOf(table).includes(key) ? key : undefined;
    },
  };
  return statements.flatMap(({ name, sql }) =>
    [...new Set(tablesWithoutKeyCondition(sql, tables).map(({ table }) => table))].map((table) => {
      const text = `${service}: the statement ${name} reads ${table} without ${tables.keyOf(table)}`;
      return { rule: /** @type {Rule} */ ('statement'), subject: name, table, text };
    }),
  );
}

/**
 * Violations that the page does not name, and exceptions that nothing violates any more.
 * @param {Violation[]} violations
 * @param {Exceptions[]} exceptions
 */
export function compareWithExceptions(violations, exceptions) {
  /** @type {(violation: Violation, row: Exceptions) => boolean} */
  const isNamed = ({ rule, subject, table }, row) =>
    row.rule === rule && row.subjects.includes(subject) && (rule !== 'statement' || row.tables.includes(table));
  const unnamed = violations.filter((one) => !exceptions.some((row) => isNamed(one, row)));
  const unneeded = exceptions.flatMap((row) => {
    const named = violations.filter((one) => isNamed(one, row));
    const subjects = row.subjects.filter((name) => !named.some(({ subject }) => subject === name));
    const tables = row.tables.filter((name) => !named.some(({ table }) => table === name));
    const place = row.tables.length > 0 ? ` with ${row.tables.join(', ')}` : '';
    return [
      ...[...subjects, ...tables].map((name) => `docs/scaling.md: ${name}${place} needs no exception (${row.rule})`),
      ...(row.hasCost ? [] : [`docs/scaling.md: the exception of ${row.subjects.join(', ')} names no cost`]),
    ];
  });
  return { unnamed, unneeded };
}

/**
 * Hot statements of a service, and the number of plans whose statement is not kept as a text.
 * @param {string} folder
 */
function readHotStatements(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const statements = files
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ name: name.replace('.sql', ''), sql: readFileSync(join(folder, name), 'utf8') }));
  const kept = new Set(statements.map(({ name }) => name));
  const plans = files.filter((name) => name.endsWith('.plan.txt')).map((name) => name.replace('.plan.txt', ''));
  return { statements, unkept: plans.filter((name) => !kept.has(name)).length };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const plan = parseDistributionPlan(readFileSync(join(root, 'docs/scaling.md'), 'utf8'));
  const services = readdirSync(join(root, 'apps')).filter((name) =>
    existsSync(join(root, 'apps', name, 'src/database.ts')),
  );
  const problems = [...plan.problems];
  /** @type {Violation[]} */
  const violations = [];
  const counts = { distributed: 0, reference: 0, local: 0, statements: 0, unkept: 0 };
  for (const service of services.filter((name) => !plan.whole.has(name))) {
    const golden = join(root, 'apps', service, 'test/golden');
    const schema = parseSchemaKeys(readFileSync(join(golden, 'schema/keys.txt'), 'utf8'));
    const { statements, unkept } = readHotStatements(golden);
    problems.push(...unplacedTables(plan, service, schema));
    violations.push(...schemaViolations(plan, service, schema));
    violations.push(...statementViolations(plan, service, schema, statements));
    for (const table of schema.keys()) counts[placementOf(plan, service, table)?.kind ?? 'local'] += 1;
    counts.statements += statements.length;
    counts.unkept += unkept;
  }
  const { unnamed, unneeded } = compareWithExceptions(violations, plan.exceptions);
  const reported = process.argv.includes('--all') ? violations : unnamed;
  for (const text of [...problems, ...reported.map((one) => one.text), ...unneeded]) process.stdout.write(`${text}\n`);
  const wrong = problems.length + unnamed.length + unneeded.length;
  process.stdout.write(
    `distribution: ${counts.distributed} distributed tables, ${counts.reference} reference tables, ${counts.local} local ones; ` +
      `${counts.statements} hot statements and ${counts.unkept} plans without a kept text; ` +
      `${violations.length - unnamed.length} exceptions, ${wrong} problems\n`,
  );
  if (wrong > 0) process.exitCode = 1;
}
