/** The build context: files of the checkout that `.dockerignore` does not name, as a builder receives them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
/** The package is a function, and its types name a default export. */
const dockerignore = /** @type {typeof import('@balena/dockerignore').default} */ (require('@balena/dockerignore'));

/**
 * Paths of all files and symbolic links of the context, relative to its root.
 * @param {string} root
 * @returns {string[]}
 */
export function buildContextFiles(root) {
  const file = join(root, '.dockerignore');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const rules = dockerignore({ ignorecase: false }).add(text);
  const hasExceptions = text.split('\n').some((line) => line.trim().startsWith('!'));
  /** @type {(folder: string) => string[]} */
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const isIgnored = rules.ignores(path);
      if (entry.isDirectory()) return isIgnored && !hasExceptions ? [] : below(path);
      return isIgnored ? [] : [path];
    });
  return below('').sort();
}

/**
 * Files of the context that git ignores: output and secrets of this machine, which an image should not contain.
 * @param {string} root
 * @param {string[]} files
 * @returns {string[]}
 */
export function ignoredByGit(root, files) {
  try {
    const options = { cwd: root, input: files.join('\0'), encoding: /** @type {const} */ ('utf8') };
    return execFileSync('git', ['check-ignore', '--stdin', '-z'], options).split('\0').filter(Boolean);
  } catch (error) {
    // Status 1: git ignores none of them.
    if (/** @type {{ status?: number }} */ (error).status === 1) return [];
    throw error;
  }
}
