#!/usr/bin/env node
/**
 * Checks that every table has one owner: the wing that declares its entity, or else the only wing that writes it. Only files
 * of the owner insert, update or delete its rows; others call exports of the owner in the same transaction. All wings of the
 * service may read. Writes are found in SQL texts, in calls of TypeORM with an entity, and in declarations of attached
 * tables for removals (`declareAttachedTable`). The module of a wing names its entities (`@Owns`).
 *
 *   node tools/checks/table-owners.mjs            prints each table with its owner
 *   node tools/checks/table-owners.mjs --check    prints violations, and fails
 *
 * @import { Source } from './sources.mjs'
 * @typedef {{ table: string, wing: string | null, file: string }} Entity
 * @typedef {Map<string, Entity>} Entities  by class name
 * @typedef {{ table: string | null, wing: string | null, name: string, file: string, line: number }} TableWrite
 * @typedef {{ owner: string | null, writers: Map<string, TableWrite[]> }} TableOwnership
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { lineOf, sourcesOf, walk } from './sources.mjs';

const HIDDEN = '\u0000';
/** Words after "merge into" or "truncate" in English sentences, such as descriptions of fields. */
const ARTICLES = new Set(['a', 'an', 'the']);
// `for update of`, `do update set` and similar clauses name no table.
const WRITES =
  /\b(?:insert\s+into|merge\s+into|delete\s+from|truncate(?:\s+table)?|(?<!\b(?:for|key|do)\s+)update)\s+(?:only\s+)?([a-z_][a-z_0-9]*|\u0000)(?=[\s(;]|$)/gi;
const ENTITY_CALLS = new Set(['insert', 'update', 'upsert', 'delete', 'save', 'remove', 'softDelete', 'into', 'from']);

/** Libraries with tables in the database of each service that uses them. */
const LIBRARIES = ['libs/persistence', 'libs/messaging', 'libs/directory', 'libs/jobs', 'libs/instance'];

/**
 * Every write in a service; `table` is null if the text does not contain its name.
 * @param {Source[]} sources
 * @param {Entities} entities
 */
export function tableWritesOf(sources, entities) {
  return sources
    .filter(({ name }) => !name.startsWith('migrations/') && !/\.migrations?\.ts$/.test(name))
    .flatMap(({ tree, wing, name, path }) => {
      /** @type {TableWrite[]} */
      const found = [];
      /** @type {(table: string | null, node: ts.Node) => void} */
      const note = (table, node) => void found.push({ table, wing, name, file: path, line: lineOf(tree, node) });
      walk(tree, (node) => {
        const text = literalText(node);
        if (text !== null) for (const table of tablesWrittenBySql(text)) note(table, node);
        if (!ts.isCallExpression(node)) return;
        for (const table of entityTablesWrittenByCall(node, entities)) note(table, node);
        for (const table of tablesOfAttachedTableCall(node)) note(table, node);
      });
      return found;
    });
}

/**
 * The text of a literal, with a mark in the place of each expression; null for other nodes.
 * @param {ts.Node} node
 */
function literalText(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => HIDDEN + span.literal.text).join('');
}

/** @param {string} text */
function tablesWrittenBySql(text) {
  return [...text.matchAll(WRITES)]
    .filter(([, table = '']) => !ARTICLES.has(table))
    .filter(([whole, table = '']) => !/^update/i.test(whole) || isSqlUpdateOf(text, table))
    .map(([, table = '']) => (table === HIDDEN ? null : table.toLowerCase()));
}

/**
 * Whether the text is an update: it has a `set` after the table and alias, unlike prose and lock clauses.
 * @param {string} text
 * @param {string} table
 */
function isSqlUpdateOf(text, table) {
  return new RegExp(`\\bupdate\\s+(?:only\\s+)?${table}(?:\\s+(?:as\\s+)?[a-z_]+)?\\s+set\\b`, 'i').test(text);
}

/**
 * @param {ts.CallExpression} call
 * @param {Entities} entities
 */
function entityTablesWrittenByCall(call, entities) {
  const callee = call.expression;
  const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : ts.isIdentifier(callee) ? callee.text : '';
  if (!ENTITY_CALLS.has(name) && name !== 'defineCollection') return [];
  const [first] = call.arguments;
  const entity = first && ts.isIdentifier(first) ? entities.get(first.text) : undefined;
  if (!entity) return [];
  // `.from(Entity)` reads, unless it follows a `.delete()`.
  const isDelete = ts.isPropertyAccessExpression(callee) && callee.expression.getText().endsWith('.delete()');
  return name === 'from' && !isDelete ? [] : [entity.table];
}

/**
 * The table of an `declareAttachedTable` call: statements generated from it delete and update its rows.
 * @param {ts.CallExpression} call
 */
function tablesOfAttachedTableCall({ expression, arguments: [first] }) {
  if (!ts.isIdentifier(expression) || expression.text !== 'declareAttachedTable') return [];
  const named = first && ts.isObjectLiteralExpression(first) ? first.properties : [];
  const table = [...named]
    .filter((one) => ts.isPropertyAssignment(one))
    .find((one) => one.name.getText() === 'table')?.initializer;
  return [table && ts.isStringLiteralLike(table) ? table.text : null];
}

/**
 * Entity classes with their tables and the wing that declares them.
 * @param {Source[]} sources
 * @returns {Entities}
 */
function entityClassesIn(sources) {
  const entities = new Map();
  for (const { tree, wing, path } of sources) {
    walk(tree, (node) => {
      if (!ts.isClassDeclaration(node)) return;
      for (const { expression } of ts.getDecorators(node) ?? []) {
        const isEntity = ts.isCallExpression(expression) && expression.expression.getText(tree) === 'Entity';
        const [table] = isEntity ? expression.arguments : [];
        if (table && ts.isStringLiteral(table)) entities.set(node.name?.text, { table: table.text, wing, file: path });
      }
    });
  }
  return entities;
}

/**
 * Tables of a service with their owners and all wings that write them; `hidden` are writes to unnamed tables.
 * @param {string} service
 * @returns {{ tables: Map<string, TableOwnership>, hidden: TableWrite[] }}
 */
export function tableOwners(service) {
  const sources = sourcesOf(service);
  const entities = entityClassesIn(sources);
  /** @type {Map<string, TableOwnership>} */
  const tables = new Map();
  /** @param {string} name */
  const tableAt = (name) => {
    const table = tables.get(name) ?? { owner: null, writers: new Map() };
    tables.set(name, table);
    return table;
  };
  for (const { table, wing } of entities.values()) tableAt(table).owner = wing;
  /** @type {TableWrite[]} */
  const hidden = [];
  for (const write of tableWritesOf(sources, entities)) {
    if (write.table === null) hidden.push(write);
    else {
      const { writers } = tableAt(write.table);
      const wing = write.wing ?? write.name;
      writers.set(wing, [...(writers.get(wing) ?? []), write]);
    }
  }
  for (const table of tables.values()) {
    const [only = null, ...others] = table.writers.keys();
    table.owner ??= others.length === 0 ? only : null;
  }
  return { tables, hidden };
}

/**
 * Messages about violations in a service; `libraryTables` are tables of the libraries.
 * @param {string} service
 * @param {Set<string>} libraryTables
 */
export function tableOwnershipViolations(service, libraryTables = new Set()) {
  const { tables, hidden } = tableOwners(service);
  const broken = hidden.map(({ file, line }) => `${file}:${line} writes a table without naming it in the text`);
  for (const [name, { owner, writers }] of [...tables].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [wing, writes] of writers) {
      const { file, line } = /** @type {TableWrite} */ (writes[0]);
      if (libraryTables.has(name)) broken.push(`${file}:${line} writes ${name}, which belongs to a library`);
      else if (owner === null) broken.push(`${file}:${line} ${wing} writes ${name}, which has no single owner`);
      else if (wing !== owner) broken.push(`${file}:${line} ${wing} writes ${name}, which ${owner} owns`);
    }
  }
  return broken;
}

/**
 * Messages about entities that the module of their wing does not name, or that the module of another wing names.
 * @param {string} service
 */
export function misplacedEntities(service) {
  const sources = sourcesOf(service);
  const entities = entityClassesIn(sources);
  const owned = new Set(
    sources.flatMap(({ tree, wing }) => classNamesInOwnsDecorators(tree).map((name) => `${wing} ${name}`)),
  );
  const missing = [...entities]
    .filter(([name, { wing }]) => !owned.delete(`${wing} ${name}`))
    .map(([name, { wing, file }]) => `${file} declares ${name}, which @Owns in the module of ${wing} does not name`);
  const foreign = [...owned].map(
    (one) => `@Owns in the module of ${one.replace(' ', ' names ')}, which is declared elsewhere`,
  );
  return [...missing, ...foreign];
}

/**
 * Messages about attachments that neither `@Attaches` nor `attached` of a kind in their wing names: no effect would be
 * generated from them.
 * @param {string} service
 */
export function unnamedAttachments(service) {
  const sources = sourcesOf(service);
  const named = new Set(sources.flatMap(({ tree, wing }) => attachedNamesIn(tree).map((name) => `${wing} ${name}`)));
  return sources.flatMap(({ tree, wing, path }) => {
    /** @type {string[]} */
    const unnamed = [];
    walk(tree, (node) => {
      if (!ts.isCallExpression(node) || tablesOfAttachedTableCall(node).length === 0) return;
      const name = ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(tree) : null;
      if (!named.has(`${wing} ${name}`))
        unnamed.push(
          `${path}:${lineOf(tree, node)} attaches a table, which @Attaches in the module of ${wing} does not name`,
        );
    });
    return unnamed;
  });
}

/**
 * Names in an `@Attaches`, and in the property `attached` of a kind.
 * @param {ts.SourceFile} tree
 */
function attachedNamesIn(tree) {
  /** @type {string[]} */
  const names = [];
  walk(tree, (node) => {
    if (ts.isCallExpression(node) && node.expression.getText(tree) === 'Attaches')
      names.push(...node.arguments.map((one) => one.getText(tree)));
    if (!ts.isPropertyAssignment(node) || node.name.getText(tree) !== 'attached') return;
    if (ts.isArrayLiteralExpression(node.initializer))
      names.push(...node.initializer.elements.map((one) => one.getText(tree)));
  });
  return names;
}

/**
 * Names of classes in an `@Owns`.
 * @param {ts.SourceFile} tree
 */
function classNamesInOwnsDecorators(tree) {
  /** @type {string[]} */
  const names = [];
  walk(tree, (node) => {
    if (!ts.isClassDeclaration(node)) return;
    for (const { expression } of ts.getDecorators(node) ?? []) {
      if (ts.isCallExpression(expression) && expression.expression.getText(tree) === 'Owns')
        names.push(...expression.arguments.map((one) => one.getText(tree)));
    }
  });
  return names;
}

/**
 * Tables that more than one wing writes.
 * @param {string} service
 */
export function sharedTables(service) {
  return [...tableOwners(service).tables].filter(([, { writers }]) => writers.size > 1).map(([name]) => name);
}

/**
 * Tables of the libraries in a service's database.
 * @param {string} root
 */
export function tablesOfLibraries(root) {
  /** @type {Set<string>} */
  const kept = new Set();
  for (const library of LIBRARIES) {
    const folder = join(root, library);
    if (!existsSync(folder)) continue;
    const sources = sourcesOf(folder);
    const entities = entityClassesIn(sources);
    for (const { table } of tableWritesOf(sources, entities)) if (table) kept.add(table);
    for (const { table } of entities.values()) kept.add(table);
  }
  return kept;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = posix.relative(process.cwd(), dirname(dirname(dirname(fileURLToPath(import.meta.url))))) || '.';
  const services = readdirSync(join(root, 'apps')).filter((name) => existsSync(join(root, 'apps', name, 'src')));
  if (process.argv.includes('--check')) {
    const kept = tablesOfLibraries(root);
    const broken = services.flatMap((name) => tableOwnershipViolations(join(root, 'apps', name), kept));
    const folders = services.map((name) => join(root, 'apps', name));
    const misplaced = folders.flatMap((folder) => [...misplacedEntities(folder), ...unnamedAttachments(folder)]);
    for (const sentence of [...broken, ...misplaced]) process.stdout.write(`${sentence}\n`);
    if (misplaced.length > 0) process.exitCode = 1;
    if (broken.length > 0) {
      process.stdout.write(
        `${broken.length} writes outside the wing that owns the table: call an export of the owner, with your \`tx\`.\n`,
      );
      process.exitCode = 1;
    }
  } else {
    for (const name of services) {
      const { tables } = tableOwners(join(root, 'apps', name));
      for (const [table, { owner, writers }] of [...tables].sort(([a], [b]) => (a < b ? -1 : 1))) {
        process.stdout.write(`${name}\t${table}\t${owner ?? '-'}\t${[...writers.keys()].join(', ')}\n`);
      }
    }
  }
}
