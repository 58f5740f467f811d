/**
 * Parsed sources of a service, without tests, for the checks.
 *
 * @typedef {{ name: string, path: string, wing: string | null, tree: ts.SourceFile }} Source
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';

/**
 * The parsed sources of a service or library. `name` is the path below `src`, `wing` the folder of its wing as `issues` or,
 * inside a district, `work/issues`; null for files that belong to no wing.
 * @param {string} service
 * @returns {Source[]}
 */
export function sourcesOf(service) {
  const src = join(service, 'src');
  const districts = districtsIn(src);
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.spec.ts'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = relative(src, path).split(sep).join('/');
      const tree = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true);
      return { name, path, wing: wingOf(name, districts), tree };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The wing that a path below `src` belongs to. Migrations belong to none: they are the history of all tables.
 * @param {string} name
 * @param {Set<string>} districts
 */
export function wingOf(name, districts) {
  const [folder = '', second, ...rest] = name.split('/');
  if (second === undefined || folder === 'migrations') return null;
  if (!districts.has(folder)) return folder;
  return rest.length === 0 ? null : `${folder}/${second}`;
}

/**
 * Folders on the first level of `src` that contain only folders.
 * @param {string} src
 */
export function districtsIn(src) {
  const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = folders.map(({ name }) => name);
  return new Set(
    names.filter((name) => {
      const entries = readdirSync(join(src, name), { withFileTypes: true });
      return entries.length > 0 && entries.every((entry) => entry.isDirectory());
    }),
  );
}

/**
 * All wings of a service by their path below `src`, sorted.
 * @param {string} src
 */
export function wingsIn(src) {
  const districts = districtsIn(src);
  const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .flatMap(({ name }) =>
      districts.has(name) ? readdirSync(join(src, name)).map((wing) => `${name}/${wing}`) : [name],
    )
    .sort();
}

/**
 * Calls `visit` with a node and all of its descendants.
 * @param {ts.Node} node
 * @param {(node: ts.Node) => void} visit
 */
export function walk(node, visit) {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/**
 * @param {ts.SourceFile} tree
 * @param {ts.Node} node
 */
export function lineOf(tree, node) {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}
