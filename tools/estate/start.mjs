/**
 * `npm start`: from a fresh clone to a running estate, and back to nothing on Ctrl-C.
 * Prints one line a step, with the time since the start.
 */
import { LOOPBACK } from './environment.mjs';
import { installDependencies, refuseOldNode } from './install.mjs';

const from = Date.now();
let last = from;

function say(text) {
  const now = Date.now();
  console.log(`[${seconds(now - from)}] ${text}${now - last > 100 ? ` (+${seconds(now - last).trim()})` : ''}`);
  last = now;
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1).padStart(5)} s`;
}

/** Signals may come twice (a terminal sends to npm and to us, npm passes its own on); the first one counts. */
function onStop(stop) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
}

/**
 * npm hands a SIGTERM to the shell between it and us, and a shell that dies of it tells nobody. So under npm the
 * loss of the parent counts as a signal.
 */
function onOrphaned(stop) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), 250).unref();
}

async function main() {
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
  onStop(() => void stop());
  onOrphaned(() => void stop());
  const starting = start(stopping.signal);
  try {
    estate = await starting;
  } catch (error) {
    if (stopping.signal.aborted) return;
    console.error(`\nRookery did not start.\n${error.message}`);
    process.exit(1);
  }
  if (!stopping.signal.aborted) invite(estate);
}

async function start(signal) {
  refuseOldNode();
  if (await installDependencies(say)) say('dependencies installed');
  const { build } = await import('./build.mjs');
  const { built, digests } = await build();
  if (built > 0) say(`${built} files built`);
  const { startEstate } = await import('./estate.mjs');
  const estate = await startEstate({
    digests,
    signal,
    say,
    warn: (text) => console.error(text),
    // Whoever calls it production does not want a command that throws the data away.
    resettable: process.env.NODE_ENV !== 'production',
    commanded: true,
  });
  say('all six processes are ready');
  return estate;
}

function invite({ baseUrl, externalUrl, host, token, dataDir }) {
  const call = `curl -s -H "PRIVATE-TOKEN: ${token}"`;
  console.log(`
Rookery runs. Data and logs: ${dataDir}. Ctrl-C stops everything.

  base URL  ${externalUrl}/api/v4
  token     ${token}   (root, administrator)
  listens   ${reachOf(host)}

  ${call} ${baseUrl}/api/v4/user
  ${call} -d name=nest -d path=nest ${baseUrl}/api/v4/groups
  ${call} -d name=eggs ${baseUrl}/api/v4/projects`);
}

function reachOf(host) {
  if (host === LOOPBACK) return `on ${host}: this machine only; HOST=0.0.0.0 npm start lets others in`;
  return `on ${host}: whoever reaches it and has the token is its administrator`;
}

await main();
