/** A module of a project. `folder` is relative to the root of the repository and empty for the root. */
export interface GoModule {
  /** Module path. */
  readonly path: string;
  readonly folder: string;
  /** Major version in the path; null for versions 0 and 1, which have none. */
  readonly major: number | null;
}

/** Paths in repositories have at most 100 folders. */
const MAX_FOLDERS = 98;
const SEGMENT = /^(?!\.)[A-Za-z0-9._~-]+(?<!\.)$/;
const MAJOR = /(?:^|\/)v([2-9]|[1-9]\d+)$/;
const DECLARATION = /^[ \t]*module[ \t]+(?:"([^"\s]+)"|`([^`\s]+)`|([^\s"`/][^\s"`]*))[ \t]*(?:\/\/.*)?\r?$/m;

/**
 * Decodes a path or version of the protocol, where `!x` is a capital letter. Returns null for another text. Source:
 * reference packages-and-admin 4.12.
 */
export function unescapeGoPathOrVersion(text: string): string | null {
  if (/[A-Z]/.test(text)) return null;
  const plain = text.replace(/!([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return plain.includes('!') ? null : plain;
}

/**
 * Returns the module of a path in a project, or null for a path elsewhere. `base` is the path of the project's root.
 */
export function parseGoModulePath(base: string, path: string): GoModule | null {
  if (path !== base && !path.startsWith(`${base}/`)) return null;
  const rest = path.slice(base.length + 1);
  const segments = path === base ? [] : rest.split('/');
  if (segments.length > MAX_FOLDERS || !segments.every((segment) => SEGMENT.test(segment))) return null;
  const match = MAJOR.exec(rest);
  if (match === null) return { path, folder: rest, major: null };
  return { path, folder: rest.slice(0, match.index), major: Number(match[1]) };
}

/** Folders that may hold the `go.mod` of a module: a major version may have a folder of its own. */
export function listModuleFolders({ folder, major }: GoModule): readonly string[] {
  return major === null ? [folder] : [folder, joinFolderPath(folder, `v${major}`)];
}

/** Path of a file in a folder. */
export function joinFolderPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Returns the module path that a `go.mod` declares, or null without a declaration. */
export function parseDeclaredGoModulePath(goMod: string): string | null {
  const [, quoted, raw, bare] = DECLARATION.exec(goMod) ?? [];
  return quoted ?? raw ?? bare ?? null;
}
