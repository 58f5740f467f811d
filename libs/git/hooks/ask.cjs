/**
 * Asks the service whether a push may move its refs, or reports that they have moved: `ask.cjs pre-receive`. Everything
 * comes from the environment and standard input, and nothing secret is an argument. Exit status 1 refuses the push.
 */
const { request } = require('node:http');

/** Longer than the service takes for its decision (`CHECK_MS` in push-hooks.ts), so that its text arrives. */
const ANSWER_MS = 75_000;
const MAX_OPTIONS = 100;
const MAX_OPTION_BYTES = 2000;
const UNAVAILABLE = 'Rookery: The push could not be checked. Please try again later.';

/** Push options as hexadecimal digits, so that none of their characters matter to HTTP. */
function encodedPushOptions({ GIT_PUSH_OPTION_COUNT, ...env }) {
  const count = Math.min(Number(GIT_PUSH_OPTION_COUNT) || 0, MAX_OPTIONS);
  return Array.from({ length: count }, (_, index) =>
    Buffer.from(env[`GIT_PUSH_OPTION_${index}`] ?? '')
      .subarray(0, MAX_OPTION_BYTES)
      .toString('hex'),
  );
}

/** Exits with status 1. After the refs have moved, git ignores that status, so no refusal is printed. */
function refusePush() {
  if (process.argv[2] !== 'post-receive') console.error(UNAVAILABLE);
  process.exit(1);
}

const {
  ROOKERY_HOOK_SOCKET: socketPath,
  ROOKERY_PUSH_TOKEN: token,
  GIT_QUARANTINE_PATH: quarantine = '',
} = process.env;
const asked = request({
  socketPath,
  method: 'POST',
  path: `/${process.argv[2]}`,
  headers: {
    'content-type': 'text/plain',
    'x-push-token': token,
    'x-quarantine': encodeURIComponent(quarantine),
    'x-push-option': encodedPushOptions(process.env),
  },
});
asked.setTimeout(ANSWER_MS, refusePush);
asked.once('error', refusePush);
asked.once('response', (answer) => {
  answer.once('error', refusePush);
  answer.once('end', () => process.exit(answer.statusCode === 200 ? 0 : 1));
  answer.pipe(process.stderr, { end: false });
});
process.stdin.once('error', refusePush).pipe(asked);
