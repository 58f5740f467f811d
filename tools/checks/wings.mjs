#!/usr/bin/env node
/**
 * Checks the wings of a service: the folders on the first level of its `src`, or one level below inside a district. Each is
 * a Nest module, and they use each other without circles. The check finds circles between whole wings, not only between
 * files: two wings that need each other are one noun split in two, even without a circle of files. Districts use each other
 * as `districts.mjs` allows. The folders of the gateway and of libraries are rooms: without modules, and without circles.
 *
 *   node tools/checks/wings.mjs            prints the wings and rooms, each with those that it uses
 *   node tools/checks/wings.mjs --check    prints circles, upward imports and wings without a module, and fails
 *
 * @typedef {Map<string, Map<string, string>>} WingUses
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { districtOf, DISTRICTS } from './districts.mjs';
import { districtsIn, lineOf, sourcesOf, walk, wingOf } from './sources.mjs';

/**
 * Returns the imports between wings. Maps a wing to the wings that it uses, and each of these to the place of one
 * import. Imports of types count, too.
 * @param {string} service
 * @returns {WingUses}
 */
export function usesOf(service) {
  /** @type {WingUses} */
  const uses = new Map();
  const districts = districtsIn(join(service, 'src'));
  for (const { name, wing, path, tree } of sourcesOf(service)) {
    if (wing === null) continue;
    const used = uses.get(wing) ?? new Map();
    uses.set(wing, used);
    walk(tree, (node) => {
      const other = importedWingOf(node, name, districts);
      if (other === null || other === wing || used.has(other)) return;
      used.set(other, `${path}:${lineOf(tree, node)}`);
    });
  }
  return uses;
}

/**
 * @param {ts.Node} node
 * @param {string} path
 * @param {Set<string>} districts
 */
function importedWingOf(node, path, districts) {
  const specifier =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : undefined;
  if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return null;
  const target = posix.normalize(posix.join(posix.dirname(path), specifier.text));
  return target.startsWith('..') ? null : wingOf(target, districts);
}

/**
 * Groups of wings that use each other, directly or through others.
 * @param {WingUses} uses
 */
export function circlesOf(uses) {
  const reached = new Map([...uses.keys()].map((wing) => [wing, reachableWings(uses, wing)]));
  /** @type {Map<string, string[]>} */
  const circles = new Map();
  for (const wing of uses.keys()) {
    const mates = [...uses.keys()].filter((other) => reached.get(wing)?.has(other) && reached.get(other)?.has(wing));
    if (mates.length > 1) circles.set(mates.sort().join(' '), mates);
  }
  return [...circles.values()];
}

/**
 * @param {WingUses} uses
 * @param {string} start
 */
function reachableWings(uses, start) {
  /** @type {Set<string>} */
  const seen = new Set();
  const waiting = [...(uses.get(start)?.keys() ?? [])];
  for (let wing = waiting.pop(); wing !== undefined; wing = waiting.pop()) {
    if (seen.has(wing)) continue;
    seen.add(wing);
    waiting.push(...(uses.get(wing)?.keys() ?? []));
  }
  return seen;
}

/**
 * Messages about problems of the wings of a service.
 * @param {string} service
 */
export function wingViolationsOf(service) {
  const uses = usesOf(service);
  const missing = [...uses.keys()]
    .filter((wing) => !existsSync(join(service, 'src', wing, `${basename(wing)}.module.ts`)))
    .map((wing) => `${service}/src/${wing} has no ${basename(wing)}.module.ts`);
  return [...circularImportProblemsIn(service, uses), ...upwardImportProblemsIn(service, uses), ...missing];
}

/**
 * Messages about circles between rooms of the gateway or of a library.
 * @param {string} folder
 */
export function importCirclesBetweenFolders(folder) {
  return circularImportProblemsIn(folder, usesOf(folder));
}

/**
 * Messages about imports from a district that is not below, and about folders that are missing in the table.
 * @param {string} service
 * @param {WingUses} uses
 */
function upwardImportProblemsIn(service, uses) {
  const districts = districtsIn(join(service, 'src'));
  const table = DISTRICTS[basename(service)] ?? {};
  const unknown = [...districts]
    .filter((district) => table[district] === undefined)
    .map(
      (district) => `${service}/src/${district} contains only folders and is no district in tools/checks/districts.mjs`,
    );
  if (districts.size === 0) return unknown;
  const upward = [...uses].flatMap(([wing, used]) =>
    [...used]
      .filter(([other]) => districtOf(other) !== districtOf(wing))
      .filter(([other]) => !table[districtOf(wing)]?.includes(districtOf(other)))
      .map(([other, place]) => `${service}: ${wing} uses ${other}, whose district is not below (${place})`),
  );
  return [...unknown, ...upward];
}

/**
 * @param {string} service
 * @param {WingUses} uses
 */
function circularImportProblemsIn(service, uses) {
  return circlesOf(uses).map((wings) => {
    const imports = wings.flatMap((wing) =>
      wings
        .filter((other) => uses.get(wing)?.has(other))
        .map((other) => `  ${wing} -> ${other} (${uses.get(wing)?.get(other)})`),
    );
    return `${service}: ${wings.join(', ')} use each other:\n${imports.join('\n')}`;
  });
}

/**
 * The services that consist of wings.
 * @param {string} root
 */
export function servicesOf(root) {
  return readdirSync(join(root, 'apps'))
    .filter((name) => !['gateway', 'e2e'].includes(name) && existsSync(join(root, 'apps', name, 'src')))
    .map((name) => posix.join(root, 'apps', name));
}

/**
 * The gateway and the libraries, whose folders are rooms.
 * @param {string} root
 */
export function gatewayAndLibraryFolders(root) {
  const libraries = readdirSync(join(root, 'libs')).filter((name) => existsSync(join(root, 'libs', name, 'src')));
  return [posix.join(root, 'apps/gateway'), ...libraries.map((name) => posix.join(root, 'libs', name))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = posix.relative(process.cwd(), dirname(dirname(dirname(fileURLToPath(import.meta.url))))) || '.';
  if (process.argv.includes('--check')) {
    const broken = [
      ...servicesOf(root).flatMap(wingViolationsOf),
      ...gatewayAndLibraryFolders(root).flatMap(importCirclesBetweenFolders),
    ];
    for (const sentence of broken) process.stdout.write(`${sentence}\n`);
    if (broken.length > 0) process.exitCode = 1;
  } else {
    for (const service of [...servicesOf(root), ...gatewayAndLibraryFolders(root)]) {
      for (const [wing, used] of [...usesOf(service)].sort()) {
        process.stdout.write(`${service}\t${wing}\t${[...used.keys()].sort().join(', ')}\n`);
      }
    }
  }
}
