import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { restoreParameterNames } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';

/** Strings, quoted names and comments, which must match exactly; or blanks, which do not count. */
const PARTS = /('[^']*'|"[^"]*"|--[^\n]*)|\s+/g;

/** Compares a text with the golden file; `UPDATE_GOLDEN=1` writes the file. */
export function expectGolden(file: string, text: string): void {
  if (process.env['UPDATE_GOLDEN']) writeGoldenFile(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

/**
 * Compares the full text of a prepared statement with `<golden>.sql`, so that a review shows the SQL that changed. The
 * file has names of parameters and is formatted; blanks between words do not count. `UPDATE_GOLDEN=1` writes it. A
 * statement without a name is not kept prepared and has no file.
 */
export function expectGoldenSql(golden: string, statement: Statement<unknown>): void {
  if (statement.name === undefined) return;
  const sql = renderGoldenStatement(statement);
  const file = `${golden}.sql`;
  if (process.env['UPDATE_GOLDEN']) writeGoldenFile(file, formatSql(sql));
  const kept = readFileSync(file, 'utf8');
  // Formatting takes some 50 ms for each statement, so it is done only for a difference.
  if (removeSqlBlanks(kept) !== removeSqlBlanks(sql)) expect(formatSql(sql)).toBe(kept);
}

/** The first line names the statement and its parameters, in the order of their numbers. */
function renderGoldenStatement({ name, text, names = [] }: Statement<unknown>): string {
  const parameters = names.map((parameter, at) => `$${at + 1} ${parameter}`).join(', ');
  return `-- ${name!}${parameters && `: ${parameters}`}\n${restoreParameterNames(text, names)}`;
}

function removeSqlBlanks(sql: string): string {
  return sql.replace(PARTS, (_, exact: string | undefined) => exact ?? '');
}

function formatSql(sql: string): string {
  // Loaded on demand, since loading takes longer than most comparisons.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { format } = require('sql-formatter') as typeof import('sql-formatter');
  const paramTypes = { named: [':' as const], numbered: ['$' as const] };
  return `${format(sql, { language: 'postgresql', keywordCase: 'preserve', expressionWidth: 120, paramTypes })}\n`;
}

function writeGoldenFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
