#!/usr/bin/env node
/**
 * Every table has one owner: the wing that declares its entity, or else the one wing that writes it. Only files of the
 * owner insert, update or delete its rows; others call what the owner exports, inside the same transaction. Reading is
 * free within the service. Writes are found in SQL texts, in calls of TypeORM with an entity, and in declarations of what
 * a removal does to a table (`attachedTo`). The module of a wing names its entities (`@Owns`).
 *
 *   node tools/checks/table-owners.mjs            prints each table with its owner
 *   node tools/checks/table-owners.mjs --check    prints what breaks the rule, and fails
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { lineOf, sourcesOf, walk } from './sources.mjs';

const HIDDEN = '\u0000';
// `for update of`, `do update set` and the like lock or resolve; they name no table of their own.
const WRITES =
  /\b(?:insert\s+into|merge\s+into|delete\s+from|truncate(?:\s+table)?|(?<!\b(?:for|key|do)\s+)update)\s+(?:only\s+)?([a-z_][a-z_0-9]*|\u0000)(?=[\s(;]|$)/gi;
const ENTITY_CALLS = new Set(['insert', 'update', 'upsert', 'delete', 'save', 'remove', 'softDelete', 'into', 'from']);

/** What a library keeps in the database of each service that uses it. */
const LIBRARIES = ['libs/persistence', 'libs/messaging', 'libs/directory', 'libs/jobs', 'libs/instance'];

/** Every write in a service. Shape: `{ table, wing, file, line }`; a table that the text hides is null. */
export function writesOf(sources, entities) {
  return sources
    .filter(({ name }) => !name.startsWith('migrations/') && !/\.migrations?\.ts$/.test(name))
    .flatMap(({ tree, wing, name, path }) => {
      const found = [];
      const note = (table, node) => found.push({ table, wing, name, file: path, line: lineOf(tree, node) });
      walk(tree, (node) => {
        const text = sqlText(node);
        if (text !== null) for (const table of tablesWritten(text)) note(table, node);
        if (!ts.isCallExpression(node)) return;
        for (const table of entitiesWritten(node, entities)) note(table, node);
        for (const table of tablesAttached(node)) note(table, node);
      });
      return found;
    });
}

/** The text of a literal, with a mark in the place of each expression; null for other nodes. */
function sqlText(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => HIDDEN + span.literal.text).join('');
}

function tablesWritten(text) {
  return [...text.matchAll(WRITES)]
    .filter(([whole, table]) => !/^update/i.test(whole) || isUpdateOf(text, table))
    .map(([, table]) => (table === HIDDEN ? null : table.toLowerCase()));
}

/** An update has a `set` after its table and alias; prose and lock clauses have not. */
function isUpdateOf(text, table) {
  return new RegExp(`\\bupdate\\s+(?:only\\s+)?${table}(?:\\s+(?:as\\s+)?[a-z_]+)?\\s+set\\b`, 'i').test(text);
}

function entitiesWritten(call, entities) {
  const callee = call.expression;
  const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : ts.isIdentifier(callee) ? callee.text : '';
  if (!ENTITY_CALLS.has(name) && name !== 'collection') return [];
  const [first] = call.arguments;
  if (!first || !ts.isIdentifier(first) || !entities.has(first.text)) return [];
  // `.from(Entity)` reads, unless it closes a `.delete()`.
  if (name === 'from' && !callee.expression.getText().endsWith('.delete()')) return [];
  return [entities.get(first.text).table];
}

/** The table of an `attachedTo` call: the statements made from it delete and update its rows. */
function tablesAttached({ expression, arguments: [first] }) {
  if (!ts.isIdentifier(expression) || expression.text !== 'attachedTo') return [];
  const named = first && ts.isObjectLiteralExpression(first) ? first.properties : [];
  const table = named.find((one) => ts.isPropertyAssignment(one) && one.name.getText() === 'table')?.initializer;
  return [table && ts.isStringLiteralLike(table) ? table.text : null];
}

/** Entity classes with their tables and the wing that declares them. */
export function entitiesOf(sources) {
  const entities = new Map();
  for (const { tree, wing, path } of sources) {
    walk(tree, (node) => {
      if (!ts.isClassDeclaration(node)) return;
      for (const { expression } of ts.getDecorators(node) ?? []) {
        const isEntity = ts.isCallExpression(expression) && expression.expression.getText(tree) === 'Entity';
        const [table] = isEntity ? expression.arguments : [];
        if (table && ts.isStringLiteral(table)) entities.set(node.name.text, { table: table.text, wing, file: path });
      }
    });
  }
  return entities;
}

/** Tables of a service with their owners; `writers` are all wings that write it. */
export function tableOwners(service) {
  const sources = sourcesOf(service);
  const entities = entitiesOf(sources);
  const tables = new Map();
  const tableAt = (name) => {
    if (!tables.has(name)) tables.set(name, { owner: null, writers: new Map() });
    return tables.get(name);
  };
  for (const { table, wing } of entities.values()) tableAt(table).owner = wing;
  const hidden = [];
  for (const write of writesOf(sources, entities)) {
    if (write.table === null) hidden.push(write);
    else {
      const { writers } = tableAt(write.table);
      const wing = write.wing ?? write.name;
      writers.set(wing, [...(writers.get(wing) ?? []), write]);
    }
  }
  for (const table of tables.values()) table.owner ??= table.writers.size === 1 ? [...table.writers.keys()][0] : null;
  return { tables, hidden };
}

/** Sentences about what breaks the rule in a service. Shape: `kept` are tables of the libraries. */
export function violationsOf(service, kept = new Set()) {
  const { tables, hidden } = tableOwners(service);
  const broken = hidden.map(({ file, line }) => `${file}:${line} writes a table that its text does not name`);
  for (const [name, { owner, writers }] of [...tables].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [wing, writes] of writers) {
      const [{ file, line }] = writes;
      if (kept.has(name)) broken.push(`${file}:${line} writes ${name}, which a library keeps`);
      else if (owner === null) broken.push(`${file}:${line} ${wing} writes ${name}, which has no single owner`);
      else if (wing !== owner) broken.push(`${file}:${line} ${wing} writes ${name}, which ${owner} owns`);
    }
  }
  return broken;
}

/** Sentences about entities that the module of their own wing does not name, or that of another does. */
export function misplacedEntities(service) {
  const sources = sourcesOf(service);
  const entities = entitiesOf(sources);
  const owned = new Set(sources.flatMap(({ tree, wing }) => ownedIn(tree).map((name) => `${wing} ${name}`)));
  const missing = [...entities]
    .filter(([name, { wing }]) => !owned.delete(`${wing} ${name}`))
    .map(([name, { wing, file }]) => `${file} declares ${name}, which @Owns of the module of ${wing} does not name`);
  const foreign = [...owned].map(
    (one) => `@Owns of the module of ${one.replace(' ', ' names ')}, which lies elsewhere`,
  );
  return [...missing, ...foreign];
}

/**
 * Sentences about attachments that neither `@Attaches` in their wing names nor `attached` of a kind there: no effect
 * would be made from them.
 */
export function unnamedAttachments(service) {
  const sources = sourcesOf(service);
  const named = new Set(sources.flatMap(({ tree, wing }) => attachedBy(tree).map((name) => `${wing} ${name}`)));
  return sources.flatMap(({ tree, wing, path }) => {
    const unnamed = [];
    walk(tree, (node) => {
      if (!ts.isCallExpression(node) || tablesAttached(node).length === 0) return;
      const name = ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(tree) : null;
      if (!named.has(`${wing} ${name}`))
        unnamed.push(
          `${path}:${lineOf(tree, node)} attaches a table, which @Attaches of the module of ${wing} does not name`,
        );
    });
    return unnamed;
  });
}

/** Names in an `@Attaches`, and in the property `attached` of a kind. */
function attachedBy(tree) {
  const names = [];
  walk(tree, (node) => {
    const isDecorator = ts.isCallExpression(node) && node.expression.getText(tree) === 'Attaches';
    const isProperty = ts.isPropertyAssignment(node) && node.name.getText(tree) === 'attached';
    if (isDecorator) names.push(...node.arguments.map((one) => one.getText(tree)));
    if (isProperty && ts.isArrayLiteralExpression(node.initializer))
      names.push(...node.initializer.elements.map((one) => one.getText(tree)));
  });
  return names;
}

/** Names of classes that stand in an `@Owns`. */
function ownedIn(tree) {
  const names = [];
  walk(tree, (node) => {
    if (!ts.isClassDeclaration(node)) return;
    for (const { expression } of ts.getDecorators(node) ?? []) {
      const isOwns = ts.isCallExpression(expression) && expression.expression.getText(tree) === 'Owns';
      if (isOwns) names.push(...expression.arguments.map((one) => one.getText(tree)));
    }
  });
  return names;
}

/** Tables with more than one wing that writes them. */
export function sharedTables(service) {
  return [...tableOwners(service).tables].filter(([, { writers }]) => writers.size > 1).map(([name]) => name);
}

/** Tables that a service's database has because it uses the libraries. */
export function tablesOfLibraries(root) {
  const kept = new Set();
  for (const library of LIBRARIES) {
    const folder = join(root, library);
    if (!existsSync(folder)) continue;
    const sources = sourcesOf(folder);
    const entities = entitiesOf(sources);
    for (const { table } of writesOf(sources, entities)) if (table) kept.add(table);
    for (const { table } of entities.values()) kept.add(table);
  }
  return kept;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = posix.relative(process.cwd(), dirname(dirname(dirname(fileURLToPath(import.meta.url))))) || '.';
  const services = readdirSync(join(root, 'apps')).filter((name) => existsSync(join(root, 'apps', name, 'src')));
  if (process.argv.includes('--check')) {
    const kept = tablesOfLibraries(root);
    const broken = services.flatMap((name) => violationsOf(join(root, 'apps', name), kept));
    const folders = services.map((name) => join(root, 'apps', name));
    const misplaced = folders.flatMap((folder) => [...misplacedEntities(folder), ...unnamedAttachments(folder)]);
    for (const sentence of [...broken, ...misplaced]) process.stdout.write(`${sentence}\n`);
    if (misplaced.length > 0) process.exitCode = 1;
    if (broken.length > 0) {
      process.stdout.write(
        `${broken.length} writes outside the wing that owns the table: call what the owner exports, with your \`tx\`.\n`,
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
