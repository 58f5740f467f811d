/**
 * The forms of a citation with their targets:
 *
 *   ADR 0040, 0041                        docs/adr/0040-*.md, unless a later decision replaced it
 *   reference work-tracking 2.4, 9.1      a numbered heading of docs/reference/work-tracking.md, or a numbered row (0.8)
 *   requirements 1 §4 Issue notes         a heading of docs/requirements.md, and a bold word of its section
 *   docs/architecture.md 5                a numbered heading or row of any page
 *
 * @typedef {Map<string, string>} Anchors
 * @typedef {{ page(path: string): Anchors | null, decisions: Map<string, string | null>, doubles: string[] }} Targets
 * @typedef {(groups: Record<string, string>, targets: Targets, mayBeReplaced: boolean) => string[]} CitationCheck
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const AREAS = ['identity-and-import', 'packages-and-admin', 'pages', 'reliability', 'repositories', 'work-tracking'];
const NUMBER = String.raw`\d+(?:\.\d+)*(?: row \d+)?(?: \((?!ADR)[^()]*\))?`;
const NUMBERS = String.raw`${NUMBER}(?:(?:, |-| to | and )${NUMBER}(?! ?§))*`;
const WORDS = String.raw`(?: [A-Z][\w-]*(?: [a-z][\w-]*)*)?`;
const FORMS = {
  decisions: String.raw`ADR (?<numbers>\d{4}(?:(?:, |-| to | and )(?:ADR )?\d{4})*)\b`,
  reference: String.raw`(?:[Rr]eference )?(?<area>${AREAS.join('|')}) (?<numbers>${NUMBERS})`,
  requirements: String.raw`[Rr]equirements (?<list>\d §\d(?:[^§;.()'\`|]*§\d)*${WORDS})`,
  page: String.raw`(?<page>docs/[\w/-]+\.md) (?<numbers>${NUMBERS})`,
};
const STICKY = Object.entries(FORMS).map(([kind, form]) => ({ kind, form: new RegExp(form, 'y') }));
/** Any of the forms, anywhere in a text. */
export const ANY_FORM = new RegExp(
  Object.values(FORMS)
    .join('|')
    .replaceAll(/\?<\w+>/g, '?:'),
  'g',
);

/** Texts that look like citations, in a text from which valid citations were removed. */
export const SUSPICIOUS = [
  /\breferences? (?:[a-z]+(?:-[a-z]+)* )?\d+\.\d+/gi,
  /\b(?:houses?|stack(?:\.md)?|decisions?|design\/[\w-]+|reliability-and-security|specification) (?:[IVX]+\.)?\d+\b/gi,
  /(?<!docs\/)\b(?:architecture|performance|reliability|conventions)(?:, learnt|,? "[^"]*")? [PRWM]?\d+(?:\.\d+)*\b/gi,
  /\blearnt \d/g,
  /\bissue (?:identity|foundation|activity|repositories|packages|operations|administration|imports?) (?:item )?\d/gi,
  /\bADR \d+/g,
  /§ ?\d/g,
];

/**
 * Headings `## 5. Rows`, `### 2.4 Values`, `### 1 §4 Endpoints` and first cells `| 0.8 |`, each with the text below.
 * @param {string} markdown
 * @returns {Anchors}
 */
export function anchorsOf(markdown) {
  const anchors = new Map();
  /** @type {string | null} */
  let open = null;
  for (const line of markdown.split('\n')) {
    const heading = /^#{1,6} (\d+ §\d+|\d+(?:\.\d+)*)\.? /.exec(line)?.[1];
    const row = /^\| (\d+(?:\.\d+)+) \|/.exec(line)?.[1];
    if (heading !== undefined) anchors.set((open = heading), '');
    else if (/^#{1,2} /.test(line)) open = null;
    else if (open !== null) anchors.set(open, `${anchors.get(open)}${line}\n`);
    if (row !== undefined) anchors.set(row, line);
  }
  return anchors;
}

/**
 * Targets of citations. `page` returns the anchors of a page or null; `decisions` maps the number of a decision to the one
 * that replaced it, or null; `doubles` are messages about numbers that two decisions share.
 * @param {string} root
 * @returns {Targets}
 */
export function citationTargetsOf(root) {
  /** @type {Map<string, Anchors | null>} */
  const pages = new Map();
  /** @param {string} path */
  const read = (path) => (existsSync(join(root, path)) ? anchorsOf(readFileSync(join(root, path), 'utf8')) : null);
  /** @param {string} path */
  const page = (path) => pages.get(path) ?? pages.set(path, read(path)).get(path) ?? null;
  const folder = join(root, 'docs/adr');
  const files = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => /^(?!0000)\d{4}-.*\.md$/.test(name));
  /** @param {string} name */
  const replacedBy = (name) => /^#.*\(replaced by ADR (\d{4})\)/.exec(readFileSync(join(folder, name), 'utf8'))?.[1];
  const decisions = new Map(files.map((name) => [name.slice(0, 4), replacedBy(name) ?? null]));
  const doubles = files
    .filter((name, index) => files.findIndex((other) => other.slice(0, 4) === name.slice(0, 4)) < index)
    .map((name) => `docs/adr/${name}: another decision has this number`);
  return { page, decisions, doubles };
}

/**
 * Problems of a text that may contain citations only; empty if each has a target.
 * @param {string} text
 * @param {Targets} targets
 * @param {{ mayBeReplaced?: boolean }} [options]
 * @returns {string[]}
 */
export function citationListProblems(text, targets, { mayBeReplaced = false } = {}) {
  /** @type {string[]} */
  const problems = [];
  const separator = /[;,]? and |[;,] ?|$/y;
  for (let at = 0; ; at = separator.lastIndex) {
    const found = STICKY.map(({ kind, form }) => ((form.lastIndex = at), { kind, form, match: form.exec(text) }));
    const { kind, form, match } = found.find((one) => one.match !== null) ?? found[0] ?? {};
    if (!kind || !form || !match) return [...problems, unknownCitationFormProblem(text.slice(at))];
    problems.push(...(CHECKS[kind]?.(match.groups ?? {}, targets, mayBeReplaced) ?? []));
    separator.lastIndex = form.lastIndex;
    const next = separator.exec(text);
    if (next === null) return [...problems, unknownCitationFormProblem(text.slice(form.lastIndex))];
    if (next[0] === '') return problems;
  }
}

/** @param {string} text */
const unknownCitationFormProblem = (text) => `"${text.trim()}" is no known form of a citation`;

/**
 * The cited numbers; of a range, both ends.
 * @param {string | undefined} numbers
 */
const parseCitedSectionNumbers = (numbers = '') =>
  numbers.replaceAll(/ \([^()]*\)| row \d+|ADR /g, '').split(/, |-| to | and /);

/** @type {Record<string, CitationCheck>} */
const CHECKS = {
  decisions: ({ numbers }, { decisions }, mayBeReplaced) =>
    parseCitedSectionNumbers(numbers).flatMap((number) => {
      if (!decisions.has(number)) return [`there is no ADR ${number}`];
      const later = decisions.get(number) ?? null;
      return later === null || mayBeReplaced ? [] : [`ADR ${number} was replaced by ADR ${later}`];
    }),
  reference: ({ area, numbers }, targets) => findMissingSections(`docs/reference/${area}.md`, numbers, targets),
  page: ({ page = '', numbers }, targets) => findMissingSections(page, numbers, targets),
  requirements({ list = '' }, targets) {
    const anchors = targets.page('docs/requirements.md') ?? new Map();
    let area = '';
    return [...list.matchAll(/(?:(\d) )?§(\d)(?: ([A-Z][^,§]*))?/g)].flatMap(([, named, section, resource]) => {
      area = named ?? area;
      const text = anchors.get(`${area} §${section}`);
      if (text === undefined) return [`docs/requirements.md has no section ${area} §${section}`];
      if (resource === undefined || hasBoldWordLike(text, resource)) return [];
      return [`docs/requirements.md does not mention "${resource.trim()}" in ${area} §${section}`];
    });
  },
};

/**
 * @param {string} path
 * @param {string | undefined} numbers
 * @param {Targets} targets
 */
function findMissingSections(path, numbers, targets) {
  const anchors = targets.page(path);
  if (anchors === null) return [`there is no ${path}`];
  return parseCitedSectionNumbers(numbers).flatMap((number) =>
    anchors.has(number) ? [] : [`${path} has no section ${number}`],
  );
}

/**
 * Whether a bold word of the text begins like the resource, or the resource like it: "Badge" and "**Badges**".
 * @param {string} text
 * @param {string} resource
 */
function hasBoldWordLike(text, resource) {
  /** @param {string | undefined} word */
  const plain = (word = '') => word.trim().toLowerCase().replace(/\s+/g, ' ').replace(/s$/, '');
  const words = [...text.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word]) => plain(word));
  return words.some((word) => word.startsWith(plain(resource)) || plain(resource).startsWith(word));
}
