#!/usr/bin/env node
/**
 * Checks that comments and names are plain English: no word of the list below, and no comment that begins with "What",
 * "Who" or "Whoever" in place of a subject. Each finding prints the replacement. Add a word when a review finds a riddle.
 *
 *   node tools/checks/words.mjs              prints the findings by folder, with their number
 *   node tools/checks/words.mjs --check      prints each finding, and fails if there is one
 *   node tools/checks/words.mjs FOLDER ...   prints each finding below these folders
 *
 * @typedef {{ line: number, text: string, instead: string }} Finding
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { walk } from './sources.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Wire contracts, generated files and copies of other texts, which keep their words. */
const LEFT_OUT =
  /\.generated\.|\/migrations\/|\/dist\/|^apps\/e2e\/clients\/bots\/|^tools\/checks\/(words\.mjs|test\/words\.test\.mjs)$/;

/**
 * Banned words with their replacements. Each word is a pattern in lower case.
 * @type {[word: string, instead: string][]}
 */
export const BANNED = [
  [
    'told|tell|tells|telling',
    'described (system notes), notified (people), selected columns (SQL), claims (rights), rendered or reported (output), or the exact verb',
  ],
  ['things?', 'noteable, target, resource, row: the noun that it is'],
  ['judged?|judges|judging', 'authorize, check, validate'],
  ['dear|dearer', 'costly, expensive'],
  ['traces?', 'person references (stack traces are free)'],
  ['writings?', 'authored content'],
  ['anew|afresh', 'again'],
  ['looked at again', 'rechecked'],
  ['what became of', 'the result of'],
  ['mends?|mended|mending', 'repair, restore, finish: the exact verb'],
  ['besides?', 'compared with, next to, also'],
  ['lest', 'so that … not'],
  ['whoever|whosoever', 'name the subject: the caller, the user, the process'],
  ['somebody|someone', 'a user, a caller, another process'],
  ['nobody', 'no user, no caller'],
  ['worse', 'failures'],
  ['comer|passage|otherwise_|whole_', 'a noun that a colleague would guess'],
];

const IN_COMMENT = BANNED.map(([word, instead]) => ({
  pattern: new RegExp(`(?<![\\w-])(?:${word})(?![\\w-])`, 'i'),
  instead,
}));
const IN_NAME = BANNED.map(([word, instead]) => ({ pattern: new RegExp(`^(?:${word})$`), instead }));
/** A mark that readers found strange. */
const MARK = /\bShape: /;
const HEADLESS = /(?:^|[.!?]\s+)(?:What|Who|Whoever|Whose)\s+(?!(?:is|are|was|does|do|did|may)\b[^.]*\?)[a-z]/;
/** Technical terms that contain a banned word. */
const FREE = /stack traces?|traceparent|trace ?ids?|otherwise/gi;

/**
 * Findings of one file.
 * @param {string} name
 * @param {string} source
 * @returns {Finding[]}
 */
export function wordFindingsIn(name, source) {
  const tree = ts.createSourceFile(name, source, ts.ScriptTarget.ES2022, true);
  /** @param {number} position */
  const lineAt = (position) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const comments = commentsOf(tree, source).flatMap(({ pos, text }) => {
    const plain = proseOf(text).replace(FREE, '');
    const banned = IN_COMMENT.filter(({ pattern }) => pattern.test(plain)).map(({ instead }) => instead);
    if (MARK.test(plain)) banned.push('a sentence about the result or the parameter instead of Shape:');
    if (HEADLESS.test(plain)) banned.push('name the subject instead of What, Who or Whoever');
    return banned.map((instead) => ({ line: lineAt(pos), text: plain.trim().slice(0, 100), instead }));
  });
  /** @type {Finding[]} */
  const names = [];
  walk(tree, (node) => {
    const name = declaredName(node);
    if (!name) return;
    const words = splitNameIntoWords(name.text.replace(FREE, ''));
    for (const { pattern, instead } of IN_NAME) {
      if (words.some((word) => pattern.test(word)))
        names.push({ line: lineAt(name.getStart(tree)), text: name.text, instead });
    }
  });
  return [...comments, ...names].sort((a, b) => a.line - b.line);
}

/**
 * The words of a name in camel case or in capitals, in lower case.
 * @param {string} name
 */
function splitNameIntoWords(name) {
  return name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((word) => word.toLowerCase());
}

/**
 * The name of a declaration, else undefined. Properties of interfaces are left out, because they may be on the wire.
 * @param {ts.Node} node
 */
function declaredName(node) {
  const isDeclaration =
    ts.isClassDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isParameter(node);
  return isDeclaration && node.name && ts.isIdentifier(node.name) ? node.name : undefined;
}

/**
 * @param {ts.SourceFile} tree
 * @param {string} source
 */
function commentsOf(tree, source) {
  /** @type {Map<number, { pos: number, text: string }>} */
  const found = new Map();
  /** @param {ts.CommentRange[] | undefined} ranges */
  const take = (ranges) => {
    for (const { pos, end } of ranges ?? []) found.set(pos, { pos, text: source.slice(pos, end) });
  };
  walk(tree, (node) => {
    take(ts.getLeadingCommentRanges(source, node.getFullStart()));
    take(ts.getTrailingCommentRanges(source, node.getEnd()));
  });
  return [...found.values()];
}

/**
 * The sentences of a comment, without its frame, code in backquotes and quoted text.
 * @param {string} comment
 */
function proseOf(comment) {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*(\*|\/\/)\s?/gm, '')
    .replace(/`[^`]*`|"[^"]*"/g, '""')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Every checked file with its findings, by path from the root.
 * @param {string[]} folders
 */
export function wordFindingsBelow(folders) {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
    .split('\n')
    .filter((file) => /\.(ts|mjs|cjs)$/.test(file) && !LEFT_OUT.test(file))
    .filter(
      (file) => folders.length === 0 || folders.some((folder) => file === folder || file.startsWith(`${folder}/`)),
    );
  return files.map((file) => ({ file, findings: wordFindingsIn(file, readFileSync(`${root}${file}`, 'utf8')) }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const isCheck = words[0] === '--check';
  const found = wordFindingsBelow(isCheck ? [] : words.map((folder) => folder.replace(/\/$/, '')));
  if (isCheck || words.length > 0) {
    for (const { file, findings } of found)
      for (const { line, text, instead } of findings)
        process.stdout.write(`${file}:${line}: ${text}\n    instead: ${instead}\n`);
    if (found.some(({ findings }) => findings.length > 0)) process.exitCode = 1;
  } else {
    const byFolder = new Map();
    for (const { file, findings } of found) {
      const folder = file
        .split('/')
        .slice(0, file.startsWith('apps/') ? 4 : 3)
        .join('/');
      byFolder.set(folder, (byFolder.get(folder) ?? 0) + findings.length);
    }
    for (const [folder, count] of [...byFolder].sort(([, a], [, b]) => b - a))
      if (count > 0) process.stdout.write(`${String(count).padStart(6)}  ${folder}\n`);
    process.stdout.write(
      `${String([...byFolder.values()].reduce((sum, count) => sum + count, 0)).padStart(6)}  in all\n`,
    );
  }
}
