import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { withNames } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';

/** Texts, quoted names and comments, of which every character counts; or blanks, of which none does. */
const PARTS = /('[^']*'|"[^"]*"|--[^\n]*)|\s+/g;

/** Compares a text with the golden file; `UPDATE_GOLDEN=1` writes the file. */
export function expectGolden(file: string, text: string): void {
  if (process.env['UPDATE_GOLDEN']) written(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

/**
 * Compares the full text of a prepared statement with `<golden>.sql`, so that a review shows the SQL that changed. The file
 * shows names of parameters and is laid out for reading; blanks between words do not count. `UPDATE_GOLDEN=1` writes it.
 * Shape: a statement without a name is not kept prepared and has no file.
 */
export function expectGoldenSql(golden: string, statement: Statement<unknown>): void {
  if (statement.name === undefined) return;
  const sql = headed(statement);
  const file = `${golden}.sql`;
  if (process.env['UPDATE_GOLDEN']) written(file, laidOut(sql));
  const kept = readFileSync(file, 'utf8');
  // Laying out takes some 50 ms a statement: only a difference is worth it.
  if (withoutBlanks(kept) !== withoutBlanks(sql)) expect(laidOut(sql)).toBe(kept);
}

/** The first line names the statement and its parameters, in the order of their numbers. */
function headed({ name, text, names = [] }: Statement<unknown>): string {
  const parameters = names.map((parameter, at) => `$${at + 1} ${parameter}`).join(', ');
  return `-- ${name!}${parameters && `: ${parameters}`}\n${withNames(text, names)}`;
}

function withoutBlanks(sql: string): string {
  return sql.replace(PARTS, (_, exact: string | undefined) => exact ?? '');
}

function laidOut(sql: string): string {
  // Loading it takes longer than most comparisons.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { format } = require('sql-formatter') as typeof import('sql-formatter');
  const paramTypes = { named: [':' as const], numbered: ['$' as const] };
  return `${format(sql, { language: 'postgresql', keywordCase: 'preserve', expressionWidth: 120, paramTypes })}\n`;
}

function written(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
