/** The sources of a service as its checks read them: parsed once, without tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';

/** Shape: `{ name, wing, tree }`; `name` is the path below `src`, `wing` its first folder or null for files beside them. */
export function sourcesOf(service) {
  const src = join(service, 'src');
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.spec.ts'))
    .map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      const name = relative(src, path).split(sep).join('/');
      const tree = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true);
      return { name, path, wing: wingOf(name), tree };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Migrations belong to nobody: they are the history of all tables. */
function wingOf(name) {
  const [folder, ...rest] = name.split('/');
  return rest.length === 0 || folder === 'migrations' ? null : folder;
}

/** Calls `visit` with each node below. */
export function walk(node, visit) {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

export function lineOf(tree, node) {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}
