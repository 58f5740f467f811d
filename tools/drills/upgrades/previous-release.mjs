/**
 * The previous release in a folder of its own: checked out at the commit that `released-migrations.json` names, with the
 * installed packages of this clone, and built.
 */
import { execFile } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const RELEASED = join(ROOT, 'tools/checks/released-migrations.json');

/**
 * Checks out and builds the previous release. `samePackages` is false if that release has other packages: its code then runs
 * with those of this clone. `remove` deletes the folder. Errors: this clone has no such commit; git or the build fails.
 */
export async function buildPreviousRelease() {
  /** @type {{ commit: string, release: string | null }} */
  const { commit, release } = JSON.parse(readFileSync(RELEASED, 'utf8'));
  await runGit(['cat-file', '-e', `${commit}^{commit}`]).catch(() => {
    throw new Error(`this clone lacks ${commit}, the previous release: git fetch --unshallow`);
  });
  const folder = mkdtempSync(join(tmpdir(), 'rookery-previous-'));
  const root = join(folder, 'rookery');
  const remove = async () => {
    await runGit(['worktree', 'remove', '--force', root]).catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const started = Date.now();
    await runGit(['worktree', 'add', '--detach', root, commit]);
    linkInstalledPackages(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    const checkedOut = Date.now();
    await run(process.execPath, ['tools/processes/build.mjs'], { cwd: root });
    const samePackages = readFileSync(join(root, 'package-lock.json')).equals(
      readFileSync(join(ROOT, 'package-lock.json')),
    );
    const ms = { checkOut: checkedOut - started, build: Date.now() - checkedOut };
    return { root, commit, release, samePackages, ms, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** @param {string[]} words */
function runGit(words) {
  return run('git', ['-C', ROOT, ...words]);
}

/**
 * Links each installed package. Links to workspaces stay relative, so that they lead to the workspaces of the other folder.
 * @param {string} from
 * @param {string} to
 */
function linkInstalledPackages(from, to) {
  mkdirSync(to);
  for (const name of readdirSync(from).filter((one) => !/^\.(?!bin$)/.test(one))) {
    const source = join(from, name);
    if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), join(to, name));
    else if (name.startsWith('@')) linkInstalledPackages(source, join(to, name));
    else symlinkSync(source, join(to, name));
  }
}
