/**
 * Runs operators' commands of the services (`node dist/main.js <command>`) with the environment of an estate that
 * `npm start` runs on this machine, in either layout.
 *
 * @import { Environment } from './environment.mjs'
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isAlive, readRecord } from './process-records.mjs';
import { readSecrets } from './secrets.mjs';
import { restoreEnvironment } from './inherited-environment.mjs';
import { serviceProgramPath } from './service-process.mjs';

/** No estate runs or was started on a data folder, or a secret that the shell gave at its start is missing. */
export class NoEstate extends Error {}

/**
 * Whether the supervisor of a data folder is alive.
 * @param {string} dataDir
 */
export function isEstateRunning(dataDir) {
  return isAlive(readRecord(join(dataDir, 'run/supervisor.lock')));
}

/**
 * Environment of a process of the estate, for connections to its recorded ports. After the estate's end another program
 * may hold these ports and would receive tokens and passwords, so this function refuses then. Errors: NoEstate.
 * @param {string} dataDir
 * @param {string} name
 */
export function runningEnvironment(dataDir, name) {
  const environment = recordedEnvironment(dataDir, name);
  if (!isEstateRunning(dataDir)) throw new NoEstate(`No estate runs on ${dataDir}`);
  return environment;
}

/**
 * Environment of a process of the estate, also after its end. Errors: NoEstate.
 * @param {string} dataDir
 * @param {string} name
 * @param {Environment} [shell]
 * @returns {Environment}
 */
export function recordedEnvironment(dataDir, name, shell = process.env) {
  const environments = readRecord(join(dataDir, 'run/environments.json'));
  if (!environments)
    throw new NoEstate(`No estate was started on ${dataDir}; name its folder: --data /path or ROOKERY_DATA=/path`);
  try {
    return restoreEnvironment(environments[name], readSecrets(dataDir), shell);
  } catch (error) {
    throw new NoEstate(/** @type {Error} */ (error).message);
  }
}

/**
 * Runs a command of a service and returns its exit code. Its output goes to this process, or is returned if `isCaptured`.
 * Errors: NoEstate; the program cannot be started.
 * @param {string} dataDir
 * @param {string} service
 * @param {string[]} words
 * @returns {Promise<{ status: number, output: string }>}
 */
export function runOperatorCommand(dataDir, service, words, { isCaptured = false } = {}) {
  const env = runningEnvironment(dataDir, service);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [serviceProgramPath(service), ...words], {
      env,
      stdio: ['ignore', isCaptured ? 'pipe' : 'inherit', 'inherit'],
    });
    let output = '';
    child.stdout?.on('data', (text) => (output += text));
    child.once('error', reject);
    child.once('close', (status) => resolve({ status: status ?? 1, output }));
  });
}
