/**
 * `npm start`: starts an estate from a fresh clone, and stops it on Ctrl-C. `npm start -- --one` runs all services in one
 * process, as does `ROOKERY_LAYOUT=one`.
 * Prints one line per step, with the time since the start.
 */
/** @import { Estate } from './estate.mjs' */
import { LOOPBACK } from './environment.mjs';
import { installDependenciesIfNeeded, refuseOldNode } from './install.mjs';

const from = Date.now();
let last = from;

/** @param {string} text */
function say(text) {
  const now = Date.now();
  console.log(
    `[${formatSeconds(now - from)}] ${text}${now - last > 100 ? ` (+${formatSeconds(now - last).trim()})` : ''}`,
  );
  last = now;
}

/** @param {number} ms */
function formatSeconds(ms) {
  return `${(ms / 1000).toFixed(1).padStart(5)} s`;
}

/**
 * Calls `stop` on signals. A signal may arrive twice: a terminal sends it to npm and to us, and npm forwards its own.
 * @param {() => void} stop
 */
function callOnStopSignals(stop) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
}

/**
 * Calls `stop` when the parent process ends under npm. npm sends SIGTERM to the shell between npm and us, and the shell
 * does not forward it.
 * @param {() => void} stop
 */
function callWhenNpmParentEnds(stop) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), 250).unref();
}

/**
 * Reads the arguments of `npm run dev` before anything starts. Returns the loop, or exits with the usage.
 * @param {string[]} args
 */
async function createDevelopmentLoop(args) {
  const { watchSourcesAndRestart: develop, developmentOptions } = await import('./development.mjs');
  try {
    const options = developmentOptions(args);
    return (/** @type {Estate} */ estate) => develop(estate, options, say);
  } catch (error) {
    return exitWithUsage(/** @type {Error} */ (error).message);
  }
}

/**
 * Reads the arguments of `npm start`, or exits with the usage.
 * @param {string[]} args
 */
function applyLayoutArgument(args) {
  if (args.length === 1 && args[0] === '--one') process.env.ROOKERY_LAYOUT = 'one';
  else if (args.length > 0) exitWithUsage(`There is no argument "${args.join(' ')}"\nnpm start [-- --one]`);
}

/** @param {string} text */
function exitWithUsage(text) {
  console.error(text);
  process.exit(64);
}

async function main() {
  const isLoop = process.argv[2] === 'dev';
  if (!isLoop) applyLayoutArgument(process.argv.slice(2));
  else if (process.env.ROOKERY_LAYOUT === 'one')
    exitWithUsage('npm run dev restarts single processes: unset ROOKERY_LAYOUT');
  const loop = isLoop ? await createDevelopmentLoop(process.argv.slice(3)) : null;
  /** @type {Estate | null} */
  let estate = null;
  const stopping = new AbortController();
  const stop = async () => {
    if (stopping.signal.aborted) return;
    console.log('\nstopping');
    stopping.abort(new Error('stopped while starting'));
    const failed = await (estate ?? (await starting.catch(() => null)))?.stop().catch((error) => error);
    if (failed) console.error(failed.message);
    process.exit(failed ? 1 : 0);
  };
  callOnStopSignals(() => void stop());
  callWhenNpmParentEnds(() => void stop());
  const starting = buildAndStartEstate(stopping.signal);
  try {
    estate = await starting;
  } catch (error) {
    if (stopping.signal.aborted) return;
    console.error(`\nRookery did not start.\n${/** @type {Error} */ (error).message}`);
    process.exit(1);
  }
  if (stopping.signal.aborted) return;
  printWelcome(estate);
  await loop?.(estate);
}

/** @param {AbortSignal} signal */
async function buildAndStartEstate(signal) {
  refuseOldNode();
  if (await installDependenciesIfNeeded(say)) say('dependencies installed');
  const { build } = await import('./build.mjs');
  const { built, digests } = await build();
  if (built > 0) say(`${built} files built`);
  const { startEstate } = await import('./estate.mjs');
  const estate = await startEstate({
    digests,
    signal,
    say,
    warn: (text) => console.error(text),
    // An operator who sets NODE_ENV=production does not want a command that deletes the data.
    resettable: process.env.NODE_ENV !== 'production',
    commanded: true,
  });
  say(estate.layout === 'one' ? 'all services are ready in one process' : 'all six processes are ready');
  return estate;
}

/** @param {Estate} estate */
function printWelcome({ baseUrl, externalUrl, host, token, dataDir }) {
  const call = `curl -s -H "PRIVATE-TOKEN: ${token}"`;
  console.log(`
Rookery runs. Data and logs: ${dataDir}. Ctrl-C stops everything.

  base URL  ${externalUrl}/api/v4
  token     ${token}   (root, administrator)
  listens   ${describeHostReachability(host)}

  ${call} ${baseUrl}/api/v4/user
  ${call} -d name=nest -d path=nest ${baseUrl}/api/v4/groups
  ${call} -d name=eggs ${baseUrl}/api/v4/projects`);
}

/** @param {string} host */
function describeHostReachability(host) {
  if (host === LOOPBACK) return `on ${host}: this machine only; HOST=0.0.0.0 npm start admits other machines`;
  return `on ${host}: every client that reaches it and has the token is an administrator`;
}

await main();
