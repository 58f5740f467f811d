/** pip, twine and poetry for the journeys of Python packages: those of the machine, or Debian's, unpacked into `node_modules`. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackDebianPackages } from './debian-packages.mjs';

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/rookery/python', import.meta.url));
const DEBIAN_PYTHON = '/usr/bin/python3';
const PROGRAMS = [DEBIAN_PYTHON, 'python3'];
const PACKAGES = ['twine', 'python3-poetry', 'python3-pip'];
const MODULES = 'import pip, poetry.console.application, twine.__main__';

/**
 * Returns a Python that has pip, twine and poetry, as `{ program, path }`. `path` is for PYTHONPATH, or empty if it is
 * not needed.
 * Errors: an Error that says how to install them.
 */
export function ensurePythonClients() {
  const ready = PROGRAMS.find((program) => canImportPythonModules(program, ''));
  if (ready) return { program: ready, path: '' };
  const path = join(FOLDER, 'usr/lib/python3/dist-packages');
  try {
    unpackDebianPackages(PACKAGES, FOLDER);
  } catch (error) {
    throw new Error(`There is no Python with pip, twine and poetry: apt-get install ${PACKAGES.join(' ')}`, {
      cause: error,
    });
  }
  if (canImportPythonModules(DEBIAN_PYTHON, path)) return { program: DEBIAN_PYTHON, path };
  throw new Error(`The pip, twine and poetry of Debian need its Python: apt-get install ${PACKAGES.join(' ')}`);
}

/**
 * @param {string} program
 * @param {string} path
 */
function canImportPythonModules(program, path) {
  try {
    execFileSync(program, ['-c', MODULES], { stdio: 'ignore', env: { ...process.env, PYTHONPATH: path } });
    return true;
  } catch {
    return false;
  }
}
