/**
 * Generates the parts of READMEs between `<!-- generated: name -->` and `<!-- end -->`: nouns of a service with their
 * tables, events of a service, and the served routes of the repository. The rest of a README is written by hand.
 *
 * @typedef {{ subject: string, about: string }} EventSummary
 * @typedef {{ effect: string, subject: string }} EffectSummary
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { wingsIn } from '../checks/sources.mjs';
import { tableOwners, tablesOfLibraries } from '../checks/table-owners.mjs';

/**
 * Renders the README of a service. `events` are those of the platform, `effects` those of the service.
 * Errors: a plain Error when the file lacks the markers of a part.
 * @param {string} root
 * @param {string} service
 * @param {{ events: EventSummary[], effects: EffectSummary[] }} facts
 */
export function readmeOf(root, service, { events, effects }) {
  const file = join(root, 'apps', service, 'README.md');
  return replaceGeneratedParts(file, {
    nouns: renderWingTable(root, service),
    events: eventTablesOf(service, events, effects),
  });
}

/**
 * Renders the README of the repository with the served routes.
 * @param {string} root
 * @param {[name: string, served: number, planned: number][]} resources
 */
export function rootReadme(root, resources) {
  const rows = resources.map(([name, served, planned]) => `| ${name.replaceAll('_', ' ')} | ${served} | ${planned} |`);
  /** @param {1 | 2} column */
  const total = (column) => resources.reduce((sum, row) => sum + row[column], 0);
  const all = `| **all** | **${total(1)}** | **${total(2)}** |`;
  return replaceGeneratedParts(join(root, 'README.md'), {
    served: ['| Resource | Routes served | of planned |', '|---|---:|---:|', ...rows, all],
  });
}

/**
 * @param {string} file
 * @param {Record<string, string[]>} parts
 */
function replaceGeneratedParts(file, parts) {
  return Object.entries(parts).reduce(
    (text, [name, lines]) => {
      const place = new RegExp(`(?<=<!-- generated: ${name} -->\\n)[^]*?(?=<!-- end -->)`);
      if (!place.test(text)) throw new Error(`${file} has no place for the generated part "${name}"`);
      return text.replace(place, () => `\n${lines.join('\n')}\n\n`);
    },
    readFileSync(file, 'utf8'),
  );
}

/**
 * One row for each wing that is a module or owns a table.
 * @param {string} root
 * @param {string} service
 */
export function renderWingTable(root, service) {
  const folder = join(root, 'apps', service);
  const kept = tablesOfLibraries(root);
  const tables = [...tableOwners(folder).tables].filter(([table]) => !kept.has(table)).sort(compareNames);
  /** @param {string} wing */
  const owned = (wing) => tables.filter(([, { owner }]) => owner === wing).map(([table]) => `\`${table}\``);
  const rows = wingsIn(join(folder, 'src'))
    .map((name) => ({ name, about: moduleSentenceOf(join(folder, 'src', name)), tables: owned(name) }))
    .filter((wing) => wing.about !== null || wing.tables.length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const shared = tables.filter(([, { owner }]) => owner === null);
  if (rows.length + shared.length === 0) return ['None yet.'];
  return [
    '| Noun | What it is | Tables it owns |',
    '|---|---|---|',
    ...rows.map(({ name, about, tables: own }) => `| [${name}](src/${name}) | ${about ?? '-'} | ${own.join(', ')} |`),
    ...shared.map(
      ([table, { writers }]) => `| ${[...writers.keys()].sort().join(', ')} | share a table | \`${table}\` |`,
    ),
  ];
}

/** @type {(one: [string, unknown], other: [string, unknown]) => number} */
const compareNames = ([a], [b]) => (a < b ? -1 : 1);

/**
 * The sentence about each wing of a service that is a module, by its noun.
 * @param {string} root
 * @param {string} service
 * @returns {Record<string, string>}
 */
export function wingDescriptionsOf(root, service) {
  const folder = join(root, 'apps', service, 'src');
  const sentences = wingsIn(folder).map((wing) => [basename(wing), moduleSentenceOf(join(folder, wing))]);
  return Object.fromEntries(sentences.filter(([, sentence]) => sentence !== null));
}

/**
 * The first sentence above the class of a wing's module; null without a module.
 * @param {string} wing
 */
function moduleSentenceOf(wing) {
  const file = readdirSync(wing).find((name) => name.endsWith('.module.ts'));
  if (file === undefined) return null;
  const tree = ts.createSourceFile(file, readFileSync(join(wing, file), 'utf8'), ts.ScriptTarget.ES2022, true);
  const module = tree.statements.find((node) => ts.isClassDeclaration(node));
  const [comment] = module === undefined ? [] : ts.getJSDocCommentsAndTags(module);
  return firstSentence(ts.getTextOfJSDocComment(comment?.comment)?.replaceAll(/\s+/g, ' ') ?? '');
}

/**
 * @param {string} service
 * @param {EventSummary[]} events
 * @param {EffectSummary[]} effects
 */
function eventTablesOf(service, events, effects) {
  const sent = events.filter(({ subject }) => subject.startsWith(`${service}.`)).sort(compareSubjects);
  /** @param {string} subject */
  const effectsOf = (subject) => effects.filter((one) => one.subject === subject).map(({ effect }) => `\`${effect}\``);
  const read = [...new Set(effects.map(({ subject }) => subject))].sort();
  return [
    ...markdownTable(
      'Sends',
      'When',
      sent.map(({ subject, about }) => [subject, firstSentence(about)]),
    ),
    '',
    ...markdownTable(
      'Reads',
      'For',
      read.map((subject) => [subject, effectsOf(subject).sort().join(', ')]),
    ),
  ];
}

/** @type {(a: EventSummary, b: EventSummary) => number} */
const compareSubjects = (a, b) => (a.subject < b.subject ? -1 : 1);
/** @param {string} text */
const firstSentence = (text) => /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;

/**
 * @param {string} head
 * @param {string} about
 * @param {[name: string, text: string][]} rows
 */
function markdownTable(head, about, rows) {
  if (rows.length === 0) return [`${head}: nothing.`];
  return [`| ${head} | ${about} |`, '|---|---|', ...rows.map(([name, text]) => `| \`${name}\` | ${text} |`)];
}
