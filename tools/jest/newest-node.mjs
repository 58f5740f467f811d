/**
 * The Node that runs jest. Specs need about a quarter less processor time under the newest LTS than under the oldest
 * supported version, whose asynchronous contexts are slow. Journeys and the tests of the tools run under the caller's
 * Node, so the suites together cover both versions.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'tools/jest/node-lts');
const FOLDER = join(ROOT, 'node_modules/.cache/rookery/node-lts');

/**
 * Returns the path of the program: the newest LTS from its npm package, which is installed if it is missing. It is the
 * caller's Node where that is as new, on other platforms, and if the package cannot be installed.
 * @param {(text: string) => void} say
 */
export function newestNodeProgram(say) {
  const { dependencies } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const platform = `${process.platform}-${process.arch}`;
  const version = dependencies[`node-${platform}`];
  if (!version || majorVersionOf(process.versions.node) >= majorVersionOf(version)) return process.execPath;
  const program = join(FOLDER, `node_modules/node-${platform}/bin/node`);
  try {
    if (programVersionOf(program) !== version) installNewestNode();
    return program;
  } catch (error) {
    say(
      `jest runs under Node ${process.versions.node}; ${version} cannot be had: ${/** @type {Error} */ (error).message}`,
    );
    return process.execPath;
  }
}

/** @param {string} version */
const majorVersionOf = (version) => Number(version.split('.')[0]);

/** @param {string} program */
function programVersionOf(program) {
  return existsSync(program) ? execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().slice(1) : null;
}

function installNewestNode() {
  mkdirSync(FOLDER, { recursive: true });
  cpSync(PACKAGE, FOLDER, { recursive: true });
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'pipe' });
}
