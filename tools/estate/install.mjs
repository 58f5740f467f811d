/** Dependencies: installed with `npm ci` when they are missing or are not those of the lockfile. Imports no package. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopTestServers } from './test-servers.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MARK = join(ROOT, 'node_modules/.cache/rookery/lock');

export function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Error(`Rookery needs Node 20.19 or newer; this is ${process.versions.node}`);
}

/** Answers whether it had to install. `say` hears of it before it begins. */
export async function installDependencies(say = () => {}) {
  const lockfile = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const digest = createHash('sha256').update(lockfile).digest('hex');
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === digest) return false;
  const needed = !matches(JSON.parse(lockfile));
  if (needed) {
    say('installing dependencies (npm ci)');
    await stopTestServers();
    install(say);
  }
  mkdirSync(dirname(MARK), { recursive: true });
  writeFileSync(MARK, digest);
  return needed;
}

/** npm writes down what it installed; optional packages of other platforms may be absent. */
function matches(lockfile) {
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
 * A lockfile that npm wrote beside an existing node_modules can lack the optional packages of other platforms
 * (npm/cli#4828), and `npm ci` refuses it; `npm install --no-save` takes the same versions from it and changes no file.
 */
function install(say) {
  const refused = npm('ci');
  if (!refused) return;
  if (!refused.includes('EUSAGE')) throw new Error(`npm ci failed:\n${refused}`);
  say('npm ci finds the lockfile incomplete for this platform; installing the versions that it names');
  const failed = npm('install', '--no-save');
  if (failed) throw new Error(`npm install failed:\n${failed}`);
}

/** Answers null, or the first lines of what went wrong. */
function npm(...words) {
  const program = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  try {
    execFileSync(program, [...words, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    return null;
  } catch (error) {
    return (error.stderr || error.message).split('\n').slice(0, 15).join('\n');
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    refuseOldNode();
    await installDependencies((text) => console.log(text));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
