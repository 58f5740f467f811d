#!/usr/bin/env node
/**
 * The wings of a service: the folders on the first level of its `src`, or one level below inside a district. Each is a
 * Nest module, and they use each other without a circle. The check looks for circles over whole wings, not over files:
 * two wings that need each other are one noun cut in two, even where no file imports itself again. Districts use each
 * other as `districts.mjs` allows. The folders of the gateway and of libraries are rooms: no modules, and no circles.
 *
 *   node tools/checks/wings.mjs            prints the wings and rooms, each with those that it uses
 *   node tools/checks/wings.mjs --check    prints circles, upward arrows and wings without a module, and fails
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { districtOf, DISTRICTS } from './districts.mjs';
import { districtsIn, lineOf, sourcesOf, walk, wingOf } from './sources.mjs';

/** Shape: wing -> wing that it uses -> one import that shows it. Imports of types count: they tie as firmly. */
export function usesOf(service) {
  const uses = new Map();
  const districts = districtsIn(join(service, 'src'));
  for (const { name, wing, path, tree } of sourcesOf(service)) {
    if (wing === null) continue;
    if (!uses.has(wing)) uses.set(wing, new Map());
    walk(tree, (node) => {
      const other = wingImported(node, name, districts);
      if (other === null || other === wing || uses.get(wing).has(other)) return;
      uses.get(wing).set(other, `${path}:${lineOf(tree, node)}`);
    });
  }
  return uses;
}

function wingImported(node, name, districts) {
  const specifier =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : undefined;
  if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return null;
  const target = posix.normalize(posix.join(posix.dirname(name), specifier.text));
  return target.startsWith('..') ? null : wingOf(target, districts);
}

/** Groups of wings that reach each other, and one import for each step. */
export function circlesOf(uses) {
  const reached = new Map([...uses.keys()].map((wing) => [wing, closure(uses, wing)]));
  const circles = new Map();
  for (const wing of uses.keys()) {
    const mates = [...uses.keys()].filter((other) => reached.get(wing).has(other) && reached.get(other).has(wing));
    if (mates.length > 1) circles.set(mates.sort().join(' '), mates);
  }
  return [...circles.values()];
}

function closure(uses, start) {
  const seen = new Set();
  const waiting = [...(uses.get(start)?.keys() ?? [])];
  for (let wing = waiting.pop(); wing !== undefined; wing = waiting.pop()) {
    if (seen.has(wing)) continue;
    seen.add(wing);
    waiting.push(...(uses.get(wing)?.keys() ?? []));
  }
  return seen;
}

/** Sentences about what is wrong with the wings of a service. */
export function violationsOf(service) {
  const uses = usesOf(service);
  const missing = [...uses.keys()]
    .filter((wing) => !existsSync(join(service, 'src', wing, `${basename(wing)}.module.ts`)))
    .map((wing) => `${service}/src/${wing} has no ${basename(wing)}.module.ts`);
  return [...circlesIn(service, uses), ...upwardArrowsIn(service, uses), ...missing];
}

/** Sentences about the rooms of the gateway or of a library: circles. */
export function roomViolationsOf(folder) {
  return circlesIn(folder, usesOf(folder));
}

/** Sentences about imports from a district that is not below, and about folders that no row of the table names. */
function upwardArrowsIn(service, uses) {
  const districts = districtsIn(join(service, 'src'));
  const table = DISTRICTS[basename(service)] ?? {};
  const unknown = [...districts]
    .filter((district) => table[district] === undefined)
    .map(
      (district) => `${service}/src/${district} holds folders only and is no district in tools/checks/districts.mjs`,
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

function circlesIn(service, uses) {
  return circlesOf(uses).map((wings) => {
    const ties = wings.flatMap((wing) =>
      wings
        .filter((other) => uses.get(wing).has(other))
        .map((other) => `  ${wing} -> ${other} (${uses.get(wing).get(other)})`),
    );
    return `${service}: ${wings.join(', ')} use each other:\n${ties.join('\n')}`;
  });
}

/** The services that are laid out in wings. */
export function servicesOf(root) {
  return readdirSync(join(root, 'apps'))
    .filter((name) => !['gateway', 'e2e'].includes(name) && existsSync(join(root, 'apps', name, 'src')))
    .map((name) => posix.join(root, 'apps', name));
}

/** The gateway and the libraries, whose folders are rooms. */
export function roomedFoldersOf(root) {
  const libraries = readdirSync(join(root, 'libs')).filter((name) => existsSync(join(root, 'libs', name, 'src')));
  return [posix.join(root, 'apps/gateway'), ...libraries.map((name) => posix.join(root, 'libs', name))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = posix.relative(process.cwd(), dirname(dirname(dirname(fileURLToPath(import.meta.url))))) || '.';
  if (process.argv.includes('--check')) {
    const broken = [...servicesOf(root).flatMap(violationsOf), ...roomedFoldersOf(root).flatMap(roomViolationsOf)];
    for (const sentence of broken) process.stdout.write(`${sentence}\n`);
    if (broken.length > 0) process.exitCode = 1;
  } else {
    for (const service of [...servicesOf(root), ...roomedFoldersOf(root)]) {
      for (const [wing, used] of [...usesOf(service)].sort()) {
        process.stdout.write(`${service}\t${wing}\t${[...used.keys()].sort().join(', ')}\n`);
      }
    }
  }
}
