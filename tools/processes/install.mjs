/** Installs dependencies with `npm ci` if they are missing or differ from the lockfile. Imports no package. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopTestServers } from '../servers/test-servers.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MARK = join(ROOT, 'node_modules/.cache/rookery/lock');

export function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Error(`Rookery needs Node 20.19 or newer; this is ${process.versions.node}`);
}

/**
 * Installs dependencies if needed, and announces it with `say` first. Resolves to whether it installed any.
 * @param {(text: string) => void} [say]
 */
export async function installDependenciesIfNeeded(say = () => {}) {
  const lockfile = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const digest = createHash('sha256').update(lockfile).digest('hex');
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === digest) return false;
  const needed = !isInstalled(JSON.parse(lockfile));
  if (needed) {
    say('installing dependencies (npm ci)');
    await stopTestServers();
    installNpmPackages(say);
  }
  mkdirSync(dirname(MARK), { recursive: true });
  writeFileSync(MARK, digest);
  return needed;
}

/**
 * Whether npm's record of installed packages agrees with the lockfile. Optional packages of other platforms may be absent.
 * @param {{ packages: Record<string, any> }} lockfile
 */
function isInstalled(lockfile) {
  const written = join(ROOT, 'node_modules/.package-lock.json');
  if (!existsSync(written)) return false;
  const installed = JSON.parse(readFileSync(written, 'utf8')).packages;
  return Object.entries(lockfile.packages).every(
    ([path, entry]) =>
      !path.startsWith('node_modules/') ||
      (installed[path] ? installed[path].version === entry.version : Boolean(entry.optional || entry.peer)),
  );
}

/**
 * Installs the packages of the lockfile. A lockfile that npm wrote while node_modules existed can lack optional packages of
 * other platforms (npm/cli#4828), and `npm ci` refuses it. `npm install --no-save` then installs the same versions and
 * changes no file.
 * @param {(text: string) => void} say
 */
function installNpmPackages(say) {
  const refused = runNpmReturningError('ci');
  if (!refused) return;
  if (!refused.includes('EUSAGE')) throw new Error(`npm ci failed:\n${refused}`);
  say('npm ci finds the lockfile incomplete for this platform; installing the versions that it names');
  const failed = runNpmReturningError('install', '--no-save');
  if (failed) throw new Error(`npm install failed:\n${failed}`);
}

/**
 * The search path for programs without folders below this one.
 * @param {string} folder
 */
function searchPathOutside(folder) {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.filter((entry) => !entry.startsWith(folder)).join(delimiter);
}

/**
 * Runs npm. Returns null, or the first lines of the error output.
 * @param {...string} words
 * @returns {string | null}
 */
function runNpmReturningError(...words) {
  const program = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  try {
    execFileSync(program, [...words, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: ROOT,
      // Not the npm among the packages, which tests use: `npm ci` deletes it.
      env: { ...process.env, PATH: searchPathOutside(join(ROOT, 'node_modules')) },
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    return null;
  } catch (error) {
    return (/** @type {{ stderr?: string }} */ (error).stderr || /** @type {Error} */ (error).message)
      .split('\n')
      .slice(0, 15)
      .join('\n');
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    refuseOldNode();
    await installDependenciesIfNeeded((text) => console.log(text));
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exit(1);
  }
}
