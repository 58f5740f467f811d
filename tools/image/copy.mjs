/** COPY of a Dockerfile: from the build context or from another stage into the files of a stage. Owner: root. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';

/**
 * @typedef {{ root: string, files: string[] | null }} Source A folder; `files` limits it to these, null takes all.
 */

/**
 * Copies the sources to the target, a path in `files` of the stage: the content of each folder, and each file under its name.
 * Errors: a source that does not exist or is ignored; a pattern.
 * @param {string[]} words Sources and target, as in the instruction.
 * @param {Source} source
 * @param {{ folder: string, workdir: string }} stage
 */
export function executeCopyInstruction(words, source, { folder, workdir }) {
  const target = words.at(-1) ?? '';
  const sources = words.slice(0, -1);
  if (sources.length === 0) throw new Error('COPY has no target');
  const path = join(folder, posix.resolve(workdir, target));
  const isFolder = /(^|\/)\.?$/.test(target) || sources.length > 1;
  for (const name of sources) {
    if (/[*?[]/.test(name)) throw new Error(`COPY ${name}: patterns are unknown`);
    copyOneSource(posix.relative('/', posix.resolve('/', name)), source, { path, isFolder, name });
  }
}

/**
 * @param {string} from
 * @param {Source} source
 * @param {{ path: string, isFolder: boolean, name: string }} target
 */
function copyOneSource(from, { root, files }, { path, isFolder, name }) {
  const whole = join(root, from);
  const isInside = files === null || files.some((file) => file === from || from === '' || file.startsWith(`${from}/`));
  if (!existsSync(whole) || !isInside) throw new Error(`COPY ${name}: no such file, or it is ignored`);
  if (!statSync(whole).isDirectory()) copyFile(whole, isFolder ? join(path, basename(from)) : path);
  else if (files === null) copyFolder(whole, path);
  else
    for (const file of files.filter((one) => from === '' || one.startsWith(`${from}/`)))
      copyFile(join(root, file), join(path, posix.relative(from, file)));
}

/**
 * @param {string} from
 * @param {string} to
 */
function copyFile(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  const about = lstatSync(from);
  if (about.isSymbolicLink()) return symlinkSync(readlinkSync(from), to);
  copyFileSync(from, to);
  chmodSync(to, about.mode & 0o777);
}

/**
 * @param {string} from
 * @param {string} to
 */
function copyFolder(from, to) {
  mkdirSync(to, { recursive: true });
  execFileSync('cp', ['-r', '--no-dereference', '--preserve=mode,timestamps', '--reflink=auto', `${from}/.`, to]);
}
