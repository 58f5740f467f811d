/**
 * Starts processes of git for the service that started this program: `starter.cjs <socket>`. A start costs what it costs to
 * copy the page tables of the starting process, so a service with hundreds of megabytes leaves it to this small one.
 *
 * The channel brings `{ id, program, args, cwd, env, hasInput }` and returns `{ id, pid }` or `{ id, error }`, then
 * `{ id, code, signal, stderr }`. Output and input are connections to the socket, which the process of git gets itself:
 * each begins with the id and a letter for the stream, and this program never reads from it.
 */
const { spawn } = require('node:child_process');
const { connect } = require('node:net');

const MAX_STDERR_BYTES = 64 * 1024;
const socketPath = process.argv[2] ?? '';

/**
 * Opens a connection and sends its beginning.
 * @param {string} header
 * @returns {Promise<import('node:net').Socket>}
 */
function openStream(header) {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    // A socket that is not paused reads, and would take bytes that are for git.
    socket.pause();
    socket.once('error', reject);
    socket.write(header, () => resolve(socket));
  });
}

/** @param {{ id: string, program: string, args: string[], cwd: string, env: Record<string, string>, hasInput: boolean }} request */
async function startProcess({ id, program, args, cwd, env, hasInput }) {
  /** @param {object} report */
  const send = (report) => process.send?.({ id, ...report });
  /** @param {NodeJS.ErrnoException} error */
  const fail = ({ code, message }) => send({ error: { code, message } });
  const opened = await Promise.allSettled([openStream(`${id}o`), ...(hasInput ? [openStream(`${id}i`)] : [])]);
  const sockets = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    for (const one of opened) if (one.status === 'rejected') throw one.reason;
    const [output, input = 'ignore'] = sockets;
    const child = spawn(program, args, { cwd, env, detached: true, stdio: [input, output, 'pipe'] });
    reportStartAndEnd(child, send, fail);
  } catch (error) {
    fail(/** @type {Error} */ (error));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/**
 * Reports the start and the end of a process.
 * @param {import('node:child_process').ChildProcess} child
 * @param {(report: object) => void} send
 * @param {(error: Error) => void} reportError
 */
function reportStartAndEnd(child, send, reportError) {
  child.once('error', reportError);
  if (child.pid === undefined) return;
  send({ pid: child.pid });
  /** @type {Buffer[]} */
  const errors = [];
  let bytes = 0;
  child.stderr?.on('data', (/** @type {Buffer} */ chunk) => {
    if (bytes < MAX_STDERR_BYTES) errors.push(chunk.subarray(0, MAX_STDERR_BYTES - bytes));
    bytes += chunk.length;
  });
  child.once('close', (code, signal) => send({ code, signal, stderr: Buffer.concat(errors).toString() }));
}

process.on('message', startProcess);
// The kernel then ends the processes of git, as if the service itself had started them.
process.once('disconnect', () => process.exit());
