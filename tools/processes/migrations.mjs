/**
 * Migrates each database to the schema of the code, and creates the administrator. Steps that were done for the same code
 * are skipped.
 *
 * @import { EstateFacts } from './environment.mjs'
 * @import { SchemaDigests } from './build.mjs'
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { databaseVariable, environmentOf, isGiven, SERVICES } from './environment.mjs';
import { databaseNameOf } from '../servers/databases.mjs';
import { readRecord, writeRecord } from './process-records.mjs';
import { serviceProgramPath } from './service-process.mjs';

const run = promisify(execFile);

/**
 * Runs the role `migrate` of every service whose migrations or database have changed, in parallel. For a database that the
 * operator named it always runs, because that database may change without us. Resolves to the migrated services.
 * @param {{ dataDir: string, estate: EstateFacts, digests: SchemaDigests, cluster: string }} options
 */
export async function migrate({ dataDir, estate, digests, cluster }) {
  const file = join(dataDir, 'migrated.json');
  /** @type {Record<string, string | undefined>} */
  const done = readRecord(file) ?? {};
  const stamps = Object.fromEntries(SERVICES.map((service) => [service, schemaStampOf(service, digests, cluster)]));
  const pending = SERVICES.filter(
    (service) => isGiven(estate.env, databaseVariable(service)) || done[service] !== stamps[service],
  );
  // All failures are collected, so that one does not hide another.
  const outcomes = await Promise.allSettled(pending.map((service) => migrateService(service, estate)));
  pending.forEach((service, index) => {
    if (outcomes[index]?.status === 'fulfilled') done[service] = stamps[service];
  });
  if (pending.length > 0) writeRecord(file, done);
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason.message);
  if (failures.length > 0) throw new Error(failures.join('\n'));
  return pending;
}

/**
 * Runs the role `migrate` of one service, as the owner of its tables, which grants the service its rights. A database that
 * the operator named has one role, unless its settings say more.
 * @param {string} service
 * @param {EstateFacts} estate
 */
export function migrateService(service, estate) {
  return runRole(service, ['migrate'], estate, ownerVariables(service, estate));
}

/**
 * Variables with which the role `migrate` connects as the owner of the tables; none if the estate has no owners.
 * @param {string} service
 * @param {EstateFacts} estate
 * @returns {Record<string, string>}
 */
export function ownerVariables(service, { owners }) {
  const owner = owners?.[service];
  return owner ? { [databaseVariable(service)]: owner, DATABASE_SERVICE_ROLE: databaseNameOf(service) } : {};
}

/**
 * Identifies the schema that a service needs: from its own migrations, those of the libraries, and the server.
 * @param {string} service
 * @param {SchemaDigests} digests
 * @param {string} cluster
 */
function schemaStampOf(service, digests, cluster) {
  const hash = createHash('sha256').update(cluster);
  for (const name of Object.keys(digests).sort())
    if (name.startsWith('libs/') || name === `apps/${service}`) hash.update(name).update(digests[name] ?? '');
  return hash.digest('hex').slice(0, 16);
}

/**
 * Creates `root` with its token, once for each token and database. Resolves to whether it ran.
 * @param {{ dataDir: string, estate: EstateFacts, token: string, cluster: string }} options
 */
export async function bootstrapRootUser({ dataDir, estate, token, cluster }) {
  const file = join(dataDir, 'bootstrapped.json');
  const stamp = createHash('sha256').update(`${cluster}\n${token}`).digest('hex');
  const isOurs = !isGiven(estate.env, databaseVariable('identity'));
  if (isOurs && readRecord(file)?.stamp === stamp) return false;
  await runRole('identity', ['bootstrap'], estate, { ROOKERY_ROOT_TOKEN: token });
  writeRecord(file, { stamp });
  return true;
}

/**
 * Gives users the tokens of a seed file. The tokens are sent on standard input, because other users of the machine can
 * read the arguments of a process.
 * @param {EstateFacts} estate
 * @param {import('../snapshots/seed.mjs').FixedToken[]} tokens
 */
export function giveTokens(estate, tokens) {
  return runRole('identity', ['fixed-tokens'], estate, {}, JSON.stringify(tokens));
}

/**
 * Runs one role of one service until it ends. Errors: its last lines of output.
 * @param {string} service
 * @param {string[]} words
 * @param {EstateFacts} estate
 * @param {import('./environment.mjs').Environment} extra
 */
export async function runRole(service, words, estate, extra = {}, input = '') {
  try {
    const role = run(process.execPath, [serviceProgramPath(service), ...words], {
      env: { ...environmentOf(service, estate), LOG_LEVEL: 'warn', ...extra },
      timeout: 300_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    role.child.stdin?.on('error', () => {}).end(input);
    await role;
  } catch (error) {
    const output =
      `${/** @type {{ stdout?: string }} */ (error).stdout ?? ''}${/** @type {{ stderr?: string }} */ (error).stderr ?? ''}`
        .trim()
        .split('\n')
        .slice(-15)
        .join('\n');
    throw new Error(`${service} ${words.join(' ')} failed: ${output || /** @type {Error} */ (error).message}`);
  }
}
