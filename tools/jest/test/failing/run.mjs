/**
 * For repeats.test.mjs: runs the files of this folder with the named runner, repeats them and prints the outcome.
 *
 * @import { SuiteResult } from '../../repeats.mjs'
 */
import { fileURLToPath } from 'node:url';
import { runJest } from '../../jest-run.mjs';
import { runNodeTests } from '../../node-run.mjs';
import { repeatFailed } from '../../repeats.mjs';

const jest = { config: 'tools/jest/test/failing.config.cjs', workers: 1, isQuiet: true };
const files = ['fails-once', 'fails-always', 'never-loads'].map((name) =>
  fileURLToPath(new URL(`${name}.mjs`, import.meta.url)),
);
/** @type {Record<string, (only: string | null) => Promise<SuiteResult>>} */
const runners = {
  jest: (only) => runJest({ ...jest, only }),
  node: (only) => runNodeTests({ files, only, say: () => {} }),
};

/** @type {Record<string, string[]>} */
const repeated = {};
/** @param {string | null} only */
const run = async (only) => {
  const runner = runners[process.argv[2] ?? ''];
  if (!runner) throw new Error(`there is no runner ${process.argv[2]}`);
  const outcome = await runner(only);
  if (only) repeated[only] = outcome.files.map(({ file }) => file);
  return outcome;
};
/** @type {string[]} */
const messages = [];
const suite = { run, repeated, ...(await run(null)) };
await repeatFailed([suite], (text) => messages.push(text));
console.log(JSON.stringify({ suite, messages }));
