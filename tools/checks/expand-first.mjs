#!/usr/bin/env node
/**
 * Checks that migrations expand first: those that the previous release does not have leave its code working, because its
 * processes run while and after the new ones migrate. Statements on tables that are new themselves are free. All others may
 * not drop or rename what the previous release uses, nor demand of its writes what it does not give.
 *
 *   node tools/checks/expand-first.mjs --check      prints violations, and fails
 *   node tools/checks/expand-first.mjs --release    a release was made: its last migrations become those of the previous one
 *
 * A docstring of the migration permits a statement: `Contracts: 0.1.0` names the release whose code no longer uses what is
 * dropped, which must be the previous release or an older one; `Former writes: <reason>` says why writes of the previous
 * release keep a new constraint. Source: ADR 0023.
 *
 * @typedef {{ release: string | null, commit: string, last: Record<string, number> }} ReleasedMigrations The previous release, null
 *   before the first one; its commit, with which `npm run drill -- upgrade` runs; and by workspace the number of its last
 *   migration.
 * @typedef {{ name: string, number: number, texts: string[], comment: string }} Migration
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compare } from 'semver';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FILE = 'tools/checks/released-migrations.json';

/** Statements and parts of `alter table` that the former code does not survive. */
const DESTRUCTIVE = [
  { form: /^drop\s+(?:table|view|materialized view|function|type|sequence|schema)\b/i, text: 'drops' },
  { form: /^drop\s+(?:column\s+)?(?!constraint\b|not null\b|default\b)/i, text: 'drops a column', ofTable: true },
  { form: /^rename\b/i, text: 'renames', ofTable: true },
  { form: /^alter\s+(?:column\s+)?\S+\s+(?:set\s+data\s+)?type\b/i, text: 'changes a type', ofTable: true },
  { form: /^alter\s+(?:column\s+)?\S+\s+drop\s+default\b/i, text: 'drops a default', ofTable: true },
  { form: /^alter\s+(?:column\s+)?\S+\s+set\s+not\s+null\b/i, text: 'requires a value', ofTable: true },
  {
    form: /^add\s+(?:column\s+)?(?!constraint\b)(?=.*\bnot\s+null\b)(?!.*\b(?:default|generated)\b)/is,
    text: 'adds a required column without default',
    ofTable: true,
  },
];
/** Rules that writes of the former code may break. */
const RESTRICTIVE = [
  {
    form: /^add\s+(?:constraint\b|primary\s+key|unique|check|foreign\s+key)/i,
    text: 'adds a constraint',
    ofTable: true,
  },
  { form: /^create\s+unique\s+index\b/i, text: 'adds a unique index' },
];

/**
 * The SQL statements of a text, without comments. Quotes and dollar quotes hide semicolons.
 * @param {string} sql
 * @returns {string[]}
 */
function splitStatements(sql) {
  const plain = sql.replaceAll(/--[^\n]*/g, '');
  return splitOutsideQuotes(plain, ';');
}

/**
 * Splits at a character outside of quotes, dollar quotes and parentheses.
 * @param {string} text
 * @param {string} separator
 * @returns {string[]}
 */
function splitOutsideQuotes(text, separator) {
  /** @type {string[]} */
  const found = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"[^"]*"|[\s\S]/g)) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (token === separator && depth === 0) found.push('');
    else found[found.length - 1] += token;
  }
  return found.map((one) => one.trim()).filter((one) => one !== '');
}

/**
 * Statements with the table that they change, one for each part of an `alter table`.
 * @param {string} statement
 * @returns {{ table: string | null, action: string, isPart: boolean }[]}
 */
function tableActionsOf(statement) {
  const alter = /^alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(\S+)\s+([\s\S]+)$/i.exec(statement);
  if (alter) {
    const [, table = '', actions = ''] = alter;
    return splitOutsideQuotes(actions, ',').map((action) => ({ table, action, isPart: true }));
  }
  const dropped = /^drop\s+table\s+(?:if\s+exists\s+)?([\s\S]+?)(?:\s+cascade)?$/i.exec(statement);
  if (dropped)
    return splitOutsideQuotes(dropped[1] ?? '', ',').map((table) => ({
      table,
      action: `drop table ${table}`,
      isPart: false,
    }));
  const indexed = /^create\s+unique\s+index\b[\s\S]*?\bon\s+(?:only\s+)?([a-z_][\w.]*)/i.exec(statement);
  return [{ table: indexed?.[1] ?? null, action: statement, isPart: false }];
}

/**
 * Classes of migrations in a file, with their SQL texts except those of `down`.
 * @param {string} text
 * @returns {Migration[]}
 */
export function migrationsOf(text) {
  const tree = ts.createSourceFile('migration.ts', text, ts.ScriptTarget.Latest, true);
  const classes = tree.statements.filter(ts.isClassDeclaration).filter(({ name }) => /\d{13}$/.test(name?.text ?? ''));
  const others = tree.statements.filter((one) => !ts.isClassDeclaration(one));
  return classes.map((declaration) => {
    const name = declaration.name?.text ?? '';
    // Texts outside belong to a migration that has its file for itself.
    const nodes = [...declaration.members, ...(classes.length === 1 ? others : [])];
    const texts = nodes
      .filter((node) => !(ts.isMethodDeclaration(node) && node.name.getText() === 'down'))
      .flatMap(stringLiteralsIn);
    const comment = text.slice(declaration.getFullStart(), declaration.getStart());
    return { name, number: Number(name.slice(-13)), texts, comment };
  });
}

/**
 * @param {ts.Node} node
 * @returns {string[]}
 */
function stringLiteralsIn(node) {
  if (ts.isImportDeclaration(node)) return [];
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (ts.isTemplateExpression(node))
    return [node.head.text + node.templateSpans.map((span) => `placeholder${span.literal.text}`).join('')];
  /** @type {string[]} */
  const found = [];
  ts.forEachChild(node, (child) => void found.push(...stringLiteralsIn(child)));
  return found;
}

/**
 * Violations of migrations that the previous release does not have, one sentence each.
 * @param {Migration[]} migrations Of one list, in any order.
 * @param {number} last The last migration of the previous release.
 * @param {string | null} release The previous release.
 * @returns {string[]}
 */
export function migrationViolationsOf(migrations, last, release) {
  const fresh = migrations.filter(({ number }) => number > last).sort((a, b) => a.number - b.number);
  /** @type {Set<string>} */
  const created = new Set();
  return fresh.flatMap(({ name, texts, comment }) => {
    const contracts = /^[ *]*Contracts: (\d+\.\d+\.\d+)/m.exec(comment)?.[1];
    const isLater = contracts !== undefined && release !== null && compare(contracts, release) <= 0;
    const keepsWrites = /^[ *]*Former writes: \S/m.test(comment);
    return texts.flatMap(splitStatements).flatMap((statement) => {
      const table = /^create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?([a-z_][\w.]*)/i.exec(statement)?.[1];
      if (table) created.add(table);
      return tableActionsOf(statement).flatMap(({ table: changed, action, isPart }) => {
        if (changed !== null && created.has(changed)) return [];
        /** @param {{ form: RegExp, ofTable?: boolean }} rule */
        const breaks = ({ form, ofTable = false }) => ofTable === isPart && form.test(action);
        const of = changed === null ? '' : ` of ${changed}`;
        const short = action.replaceAll(/\s+/g, ' ').slice(0, 60);
        const destroyed = DESTRUCTIVE.find(breaks);
        if (destroyed && !isLater) return [`${name} ${destroyed.text}${of}: ${short}`];
        const restricted = RESTRICTIVE.find(breaks);
        return restricted && !keepsWrites ? [`${name} ${restricted.text}${of}: ${short}`] : [];
      });
    });
  });
}

/** Migrations of each workspace that has some. @returns {Map<string, Migration[]>} */
function allMigrations() {
  const workspaces = ['apps', 'libs'].flatMap((kind) => readdirSync(join(root, kind)).map((name) => `${kind}/${name}`));
  const lists = workspaces.map((workspace) => {
    const source = join(root, workspace, 'src');
    if (!existsSync(source)) return /** @type {[string, Migration[]]} */ ([workspace, []]);
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
      (name) =>
        (/(?:^|\/)migrations\/\d+-[^/]*\.ts$/.test(name) || /\.migrations?\.ts$/.test(name)) && !/spec/.test(name),
    );
    const found = files.flatMap((name) => migrationsOf(readFileSync(join(source, name), 'utf8')));
    return /** @type {[string, Migration[]]} */ ([workspace, found]);
  });
  return new Map(lists.filter(([, found]) => found.length > 0));
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const all = allMigrations();
  if (process.argv.includes('--release')) {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const last = Object.fromEntries([...all].map(([name, list]) => [name, Math.max(...list.map((one) => one.number))]));
    const commit = execFileSync('git', ['-C', root, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
    writeFileSync(join(root, FILE), `${JSON.stringify({ release: version, commit, last }, null, 2)}\n`);
  } else {
    /** @type {ReleasedMigrations} */
    const { release, last } = JSON.parse(readFileSync(join(root, FILE), 'utf8'));
    const violations = [...all].flatMap(([name, list]) =>
      migrationViolationsOf(list, last[name] ?? 0, release).map((text) => `${name}: ${text}`),
    );
    for (const text of violations) process.stdout.write(`${text}\n`);
    const count = [...all].flatMap(([name, list]) => list.filter(({ number }) => number > (last[name] ?? 0))).length;
    process.stdout.write(
      `expand-first: ${count} migrations after the previous release, ${violations.length} violations\n`,
    );
    if (violations.length > 0) process.exitCode = 1;
  }
}
