/** For repeats.test.mjs: runs the files of this folder by the named runner, repeats them and prints the outcome. */
import { fileURLToPath } from 'node:url';
import { runJest } from '../../jest-run.mjs';
import { runNodeTests } from '../../node-run.mjs';
import { repeatFailed } from '../../repeats.mjs';

const jest = { config: 'tools/jest/test/failing.config.cjs', workers: 1, isQuiet: true };
const files = ['fails-once', 'fails-always', 'never-loads'].map((name) =>
  fileURLToPath(new URL(`${name}.mjs`, import.meta.url)),
);
const runners = {
  jest: (only) => runJest({ ...jest, only }),
  node: (only) => runNodeTests({ files, only, say: () => {} }),
};

const repeated = {};
const run = async (only) => {
  const outcome = await runners[process.argv[2]](only);
  if (only) repeated[only] = outcome.files.map(({ file }) => file);
  return outcome;
};
const said = [];
const suite = { run, repeated, ...(await run(null)) };
await repeatFailed([suite], (text) => said.push(text));
console.log(JSON.stringify({ suite, said }));
