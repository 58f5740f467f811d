#!/usr/bin/env node
/**
 * Checks that comments and names are plain English: no word of the list below, and no comment that begins with "What",
 * "Who" or "Whoever" in place of a subject. Each finding prints the replacement. Add a word when a review finds a riddle.
 *
 *   node tools/checks/words.mjs              prints the findings by folder, with their number
 *   node tools/checks/words.mjs --check      fails for findings in the folders that are held to the list (`HELD`)
 *   node tools/checks/words.mjs FOLDER ...   prints each finding below these folders
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { walk } from './sources.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders without findings. The list grows until it names every folder; then it goes. */
export const HELD = [
  'apps/admin',
  'apps/identity/src/avatars',
  'apps/identity/src/badges',
  'apps/identity/src/bootstrap',
  'apps/identity/src/custom-attributes',
  'apps/identity/src/directory',
  'apps/identity/src/emails',
  'apps/identity/src/groups/details',
  'apps/identity/src/groups/moving',
  'apps/identity/src/groups/projects',
  'apps/identity/src/groups/sharing',
  'apps/identity/src/members/access-requests',
  'apps/identity/src/members/sharing',
  'apps/identity/src/namespaces',
  'apps/identity/src/projects/activity',
  'apps/identity/src/projects/changing',
  'apps/identity/src/projects/forks',
  'apps/identity/src/projects/moving',
  'apps/identity/src/projects/sharing',
  'apps/identity/src/projects/stars',
  'apps/identity/src/service-accounts',
  'apps/identity/src/statistics',
  'apps/identity/src/tokens/notices',
  'apps/identity/src/tokens/personal',
  'apps/identity/src/tokens/resource',
  'apps/identity/src/topics',
  'apps/identity/src/users',
  'apps/identity/test/api',
  'apps/identity/test/support',
  'apps/import',
  'apps/package',
  'libs/blobs',
  'libs/contracts',
  'libs/egress',
  'libs/git',
  'libs/instance',
  'libs/jobs',
  'libs/kernel',
  'libs/messaging',
  'tools/checks/districts.mjs',
  'tools/checks/words.mjs',
];

/** Wire contracts, generated files and copies of other texts keep their words. */
const LEFT_OUT =
  /\.generated\.|\/migrations\/|\/dist\/|^apps\/e2e\/clients\/bots\/|^tools\/checks\/(words\.mjs|test\/words\.test\.mjs)$/;

/** Shape: pattern of a word in lower case -> what to write instead. */
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
  ['anew', 'again'],
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
const HEADLESS = /(?:^|[.!?]\s+)(?:What|Who|Whoever|Whose)\s+(?!(?:is|are|was|does|do|did|may)\b[^.]*\?)[a-z]/;
/** Phrases of the trade that hold a listed word. */
const FREE = /stack traces?|traceparent|trace id|otherwise/gi;

/** Findings of one file. Shape: `{ line, text, instead }`. */
export function findingsIn(name, source) {
  const tree = ts.createSourceFile(name, source, ts.ScriptTarget.ES2022, true);
  const lineAt = (position) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const comments = commentsOf(tree, source).flatMap(({ pos, text }) => {
    const plain = proseOf(text).replace(FREE, '');
    const banned = IN_COMMENT.filter(({ pattern }) => pattern.test(plain)).map(({ instead }) => instead);
    if (HEADLESS.test(plain)) banned.push('name the subject instead of What, Who or Whoever');
    return banned.map((instead) => ({ line: lineAt(pos), text: plain.trim().slice(0, 100), instead }));
  });
  const names = [];
  walk(tree, (node) => {
    if (!isDeclaration(node) || !node.name || !ts.isIdentifier(node.name)) return;
    const words = partsOf(node.name.text);
    for (const { pattern, instead } of IN_NAME) {
      if (words.some((word) => pattern.test(word)))
        names.push({ line: lineAt(node.name.getStart(tree)), text: node.name.text, instead });
    }
  });
  return [...comments, ...names].sort((a, b) => a.line - b.line);
}

/** The words of a name in camel case or in capitals, in lower case. */
function partsOf(name) {
  return name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((word) => word.toLowerCase());
}

/** Declarations whose name is ours; properties of interfaces are not, for they may be on the wire. */
function isDeclaration(node) {
  return (
    ts.isClassDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isParameter(node)
  );
}

function commentsOf(tree, source) {
  const found = new Map();
  const take = (ranges) => {
    for (const { pos, end } of ranges ?? []) found.set(pos, { pos, text: source.slice(pos, end) });
  };
  walk(tree, (node) => {
    take(ts.getLeadingCommentRanges(source, node.getFullStart()));
    take(ts.getTrailingCommentRanges(source, node.getEnd()));
  });
  return [...found.values()];
}

/** The sentences of a comment, without its frame, code in backquotes and quoted text. */
function proseOf(comment) {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*(\*|\/\/)\s?/gm, '')
    .replace(/`[^`]*`|"[^"]*"/g, '""')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Every checked file with its findings, by path from the root. */
export function findingsBelow(folders) {
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
  return files.map((file) => ({ file, findings: findingsIn(file, readFileSync(`${root}${file}`, 'utf8')) }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const isCheck = words[0] === '--check';
  const found = findingsBelow(isCheck ? HELD : words.map((folder) => folder.replace(/\/$/, '')));
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
