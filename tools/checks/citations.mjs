#!/usr/bin/env node
/**
 * Checks that every citation and every relative link has a target. `Source:` lists, `source` of endpoints and the column
 * `requirement` of docs/routes.tsv may contain only citations of the known forms (citation-forms.mjs). In other texts,
 * a phrase that looks like a citation and has none of these forms fails, too.
 *
 *   node tools/checks/citations.mjs [folder]    prints citations and links without a target, and fails
 *
 * @import { Targets } from './citation-forms.mjs'
 * @typedef {{ line: number, text: string }} Problem
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ANY_FORM, citationListProblems, SUSPICIOUS, citationTargetsOf } from './citation-forms.mjs';

const FOLDERS = ['apps', 'libs', 'tools', 'docs', 'deploy', '.ci'];
const ENDINGS = new Set(['.ts', '.mjs', '.cjs', '.js', '.sql', '.yaml', '.yml', '.sh', '.md', '.conf']);
const SKIPPED = new Set(['node_modules', 'dist', '.nx', '.rookery']);
/** Files with examples of right and wrong citations. */
const EXAMPLES = /^tools\/checks\/(?:citation-forms\.mjs|citations\.mjs|test\/citations\.test\.mjs)$/;
const TO_COME = /^to come(?:: (?:identity-and-import|packages-and-admin|repositories|work-tracking) \d+(?:\.\d+)*)?$/;

/**
 * Returns the problems of a repository, each as `path:line: problem`.
 * @param {string} root
 * @returns {string[]}
 */
export function citationProblemsIn(root) {
  const targets = citationTargetsOf(root);
  const found = listFilesCheckedForCitations(root).flatMap((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    const links = extname(path) === '.md' ? problemsOfLinks(source, path, root) : [];
    return [...citationProblemsOfText(source, path, targets), ...links].map(
      ({ line, text }) => `${path}:${line}: ${text}`,
    );
  });
  return [
    ...found,
    ...targets.doubles,
    ...citationProblemsOfRoutes(root, targets),
    ...citationProblemsOfEndpoints(root, targets),
  ];
}

/** @param {string} root */
function listFilesCheckedForCitations(root) {
  /**
   * @param {string} folder
   * @returns {string[]}
   */
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : below(path);
      return ENDINGS.has(extname(entry.name)) && !EXAMPLES.test(path) ? [path] : [];
    });
  const top = readdirSync(root).filter((name) => ENDINGS.has(extname(name)));
  return [...top, ...FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap(below)];
}

const CODE_GOES_ON = /^[ \t]*(?:\*(?!\/)|\/\/|--|#(?!\w))[ \t]?/;
const PROSE_GOES_ON = /^[ \t]*(?![-*|#>]|\d+\. |\s*$)/;

/**
 * Comments and paragraphs as running text, because a citation may be split over lines.
 * @param {string} source
 * @param {string} path
 */
function unwrapCommentsAndParagraphs(source, path) {
  const goesOn = extname(path) === '.md' ? PROSE_GOES_ON : CODE_GOES_ON;
  /** @type {number[]} */
  const starts = [];
  let text = '';
  for (const line of source.split('\n')) {
    const isMore = text !== '' && !text.endsWith('\n\n') && goesOn.test(line);
    text += text === '' ? '' : isMore ? ' ' : '\n';
    starts.push(text.length);
    text += isMore ? line.replace(goesOn, '') : line;
  }
  return { text, lineOf: (/** @type {number} */ index) => starts.findLastIndex((start) => start <= index) + 1 };
}

/** Ends at a full stop, a colon, the end of the comment or of the line; the dots in `docs/x.md 5` and `2.4` do not count. */
const SOURCE_LIST = /\bSource: ?((?:[^.:\n*]|\.(?=\d|md\b)|:(?! )|\*(?!\/))*)/g;

/**
 * Citations of a text that have no target.
 * @param {string} source
 * @param {string} path
 * @param {Targets} targets
 */
export function citationProblemsOfText(source, path, targets) {
  const { text, lineOf } = unwrapCommentsAndParagraphs(source, path);
  const how = { mayBeReplaced: path.startsWith('docs/adr/') };
  /** @type {Problem[]} */
  const found = [];
  /** @type {(index: number, problems: string[]) => void} */
  const note = (index, problems) => problems.forEach((problem) => found.push({ line: lineOf(index), text: problem }));
  /** @param {string} whole */
  const blank = (whole) => ' '.repeat(whole.length);
  const withoutLists = text.replace(extname(path) === '.md' ? /$^/g : SOURCE_LIST, (whole, list, index) => {
    note(index, citationListProblems(list.replace(/\s+/g, ' ').trim(), targets, how));
    return blank(whole);
  });
  const left = withoutLists.replace(ANY_FORM, (citation, index) => {
    note(index, citationListProblems(citation, targets, how));
    return blank(citation);
  });
  /** @param {number} index */
  const isHeading = (index) => extname(path) === '.md' && left[left.lastIndexOf('\n', index) + 1] === '#';
  for (const pattern of SUSPICIOUS) {
    for (const { index, 0: words } of left.matchAll(pattern)) {
      if (isHeading(index)) continue;
      note(index, [`"${words.trim()}" looks like a citation, but has no known form`]);
    }
  }
  return found;
}

/**
 * Relative links of a page without a file or without its heading.
 * @param {string} markdown
 * @param {string} path
 * @param {string} root
 * @returns {Problem[]}
 */
export function problemsOfLinks(markdown, path, root) {
  const prose = markdown.replaceAll(/```.*?```|`[^`\n]*`/gs, (code) => code.replaceAll(/[^\n]/g, ' '));
  return [...prose.matchAll(/\]\((?!\w+:)([^()\s]+)\)/g)].flatMap(({ index, 1: target = '' }) => {
    const [file = '', heading] = target.split('#');
    const to = file === '' ? path : join(dirname(path), decodeURIComponent(file));
    const line = prose.slice(0, index).split('\n').length;
    if (!existsSync(join(root, to))) return [{ line, text: `the link to ${target} has no target` }];
    if (heading === undefined || headingSlugsOf(readFileSync(join(root, to), 'utf8')).has(heading)) return [];
    return [{ line, text: `${to} has no heading #${heading}` }];
  });
}

/**
 * Anchors of headings, in the form that common hosts use.
 * @param {string} markdown
 */
function headingSlugsOf(markdown) {
  const headings = [...markdown.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  );
}

/**
 * Problems of the route inventory. A route that is not built may name a section that its issue will write.
 * @param {string} root
 * @param {Targets} targets
 * @returns {string[]}
 */
function citationProblemsOfRoutes(root, targets) {
  const path = 'docs/routes.tsv';
  if (!existsSync(join(root, path))) return [];
  const [head = '', ...rows] = readFileSync(join(root, path), 'utf8').trimEnd().split('\n');
  const column = head.split('\t').indexOf('requirement');
  return rows.flatMap((row, index) => {
    const cited = (row.split('\t')[column] ?? '').split('; ');
    const problems = cited.flatMap((one) => (TO_COME.test(one) ? [] : citationListProblems(one, targets)));
    return problems.map((problem) => `${path}:${index + 2}: ${problem}`);
  });
}

/**
 * Problems of the sources of endpoints. They are read from the document of the whole API, where each has its final form.
 * @param {string} root
 * @param {Targets} targets
 * @returns {string[]}
 */
function citationProblemsOfEndpoints(root, targets) {
  const path = 'apps/gateway/openapi.json';
  if (!existsSync(join(root, path))) return [];
  const { paths = {} } = JSON.parse(readFileSync(join(root, path), 'utf8'));
  const sources = Object.values(paths).flatMap((item) =>
    Object.values(item).map((/** @type {any} */ one) => one['x-rookery-source']),
  );
  return [...new Set(sources.filter((source) => typeof source === 'string'))].flatMap((source) =>
    citationListProblems(source, targets).map((problem) => `${path}: source "${source}": ${problem}`),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = citationProblemsIn(process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url)));
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.stdout.write(`${problems.length} citations and links have no target\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
