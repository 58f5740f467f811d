import type { TreeEntry } from '@rookery/git';

/** A file of a module. `name` is relative to the folder of the module. */
export interface GoModuleFile {
  readonly name: string;
  readonly id: TreeEntry['id'];
}

/** Bounds of Go's own tools. Units: bytes. */
const MAX_TOTAL = 500 * 1024 * 1024;
const MAX_SPECIAL = 16 * 1024 * 1024;
/** Maximum number of files of the whole repository: our own bound. */
const MAX_FILES = 50_000;
/** Units: characters of a path. */
const MAX_PATH = 1024;
const REGULAR: ReadonlySet<string> = new Set(['100644', '100755']);
const NAME = /^[\p{L}0-9!#$%&()+,\-.=@[\]^_{}~ ]+$/u;
const RESERVED = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * Selects the files of a module by the rules that Go's tools have, because digests of modules depend on them: regular
 * files, without nested modules and vendored packages, and with the licence of the repository where the folder has
 * none. `entries` are all of the tree; null for a module that Go refuses. Source: reference packages-and-admin 4.12.
 */
export function filesOfGoModule(entries: readonly TreeEntry[], folder: string): readonly GoModuleFile[] | null {
  if (entries.length > MAX_FILES || entries.some(({ path }) => path.length > MAX_PATH)) return null;
  const start = folder === '' ? '' : `${folder}/`;
  const regular = entries.filter(({ mode }) => REGULAR.has(mode));
  const inside = regular
    .filter(({ path }) => path.startsWith(start))
    .map((entry) => ({ ...entry, name: entry.path.slice(start.length) }));
  const nested = inside
    .filter(({ name }) => name.endsWith('/go.mod'))
    .map(({ name }) => name.slice(0, -'go.mod'.length));
  const isNested = createInFolderPredicate(new Set(nested));
  const files = inside.filter(({ name }) => !isNested(name) && !isVendoredGoFile(name));
  const licence = regular.find(({ path }) => path === 'LICENSE');
  if (start !== '' && licence && !files.some(({ name }) => name === 'LICENSE'))
    files.push({ ...licence, name: 'LICENSE' });
  return isValidGoModule(files) ? files.map(({ name, id }) => ({ name, id })) : null;
}

/** Returns a test of whether a file is in one of the folders, or below it. Folders end with a slash. */
function createInFolderPredicate(folders: ReadonlySet<string>): (name: string) => boolean {
  return (name) => {
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1))
      if (folders.has(name.slice(0, at + 1))) return true;
    return false;
  };
}

/**
 * Whether Go's tools leave the file out as vendored. Below folders their check skips a wrong number of characters. They
 * keep this error so that digests do not change, so it is repeated here.
 */
function isVendoredGoFile(name: string): boolean {
  if (name.startsWith('vendor/')) return name.slice('vendor/'.length).includes('/');
  return name.includes('/vendor/') && name.slice('/vendor/'.length).includes('/');
}

function isValidGoModule(files: readonly (TreeEntry & { readonly name: string })[]): boolean {
  const total = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
  const isSpecial = (name: string): boolean => name === 'go.mod' || name === 'LICENSE';
  const names = new Set(files.map(({ name }) => name.toLowerCase()));
  return (
    total <= MAX_TOTAL &&
    names.size === files.length &&
    files.every(({ name, size }) => isValidGoModuleFilePath(name) && (!isSpecial(name) || (size ?? 0) <= MAX_SPECIAL))
  );
}

function isValidGoModuleFilePath(path: string): boolean {
  return path.split('/').every((part) => NAME.test(part) && !part.endsWith('.') && !RESERVED.test(part));
}
