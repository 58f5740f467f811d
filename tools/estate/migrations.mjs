/** Brings each database to the schema of the code, and makes the administrator. Skips what was done for the same code. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { databaseVariable, environmentOf, isGiven, SERVICES } from './environment.mjs';
import { readRecord, writeRecord } from './processes.mjs';
import { programOf } from './service-process.mjs';

const run = promisify(execFile);

/**
 * Runs the role `migrate` of every service whose migrations or database differ from the last time; all at once, each in its
 * own database. A database that the operator named may change without us, so there it always runs.
 * Answers the names of the services that were migrated.
 */
export async function migrate({ dataDir, estate, digests, cluster }) {
  const file = join(dataDir, 'migrated.json');
  const done = readRecord(file) ?? {};
  const stamps = Object.fromEntries(SERVICES.map((service) => [service, stampOf(service, digests, cluster)]));
  const pending = SERVICES.filter(
    (service) => isGiven(estate.env, databaseVariable(service)) || done[service] !== stamps[service],
  );
  // One after another on few processors would take as long; a failure of one must not hide another's.
  const outcomes = await Promise.allSettled(pending.map((service) => runRole(service, ['migrate'], estate)));
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled') done[pending[index]] = stamps[pending[index]];
  });
  if (pending.length > 0) writeRecord(file, done);
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason.message);
  if (failures.length > 0) throw new Error(failures.join('\n'));
  return pending;
}

/** Which schema a service wants follows from its own migrations and those of the libraries. */
function stampOf(service, digests, cluster) {
  const hash = createHash('sha256').update(cluster);
  for (const name of Object.keys(digests).sort())
    if (name.startsWith('libs/') || name === `apps/${service}`) hash.update(name).update(digests[name]);
  return hash.digest('hex').slice(0, 16);
}

/** Makes `root` with its token, once for each token and database. */
export async function bootstrap({ dataDir, estate, token, cluster }) {
  const file = join(dataDir, 'bootstrapped.json');
  const stamp = createHash('sha256').update(`${cluster}\n${token}`).digest('hex');
  const isOurs = !isGiven(estate.env, databaseVariable('identity'));
  if (isOurs && readRecord(file)?.stamp === stamp) return false;
  await runRole('identity', ['bootstrap'], estate, { ROOKERY_ROOT_TOKEN: token });
  writeRecord(file, { stamp });
  return true;
}

/** Gives people the tokens of a seed file. They go by the standard input: others can read what a process is started with. */
export function giveTokens(estate, tokens) {
  return runRole('identity', ['fixed-tokens'], estate, {}, JSON.stringify(tokens));
}

/** One role of one service, until it ends. Errors: its last lines. */
export async function runRole(service, words, estate, extra = {}, input = '') {
  try {
    const role = run(process.execPath, [programOf(service), ...words], {
      env: { ...environmentOf(service, estate), LOG_LEVEL: 'warn', ...extra },
      timeout: 300_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    role.child.stdin.on('error', () => {}).end(input);
    await role;
  } catch (error) {
    const output = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n').slice(-15).join('\n');
    throw new Error(`${service} ${words.join(' ')} failed: ${output || error.message}`);
  }
}
