/**
 * Repeats of failed spec files. A file that passes alone on the second try is flaky: it is listed and its tests count
 * as passed. A file that fails twice has failed.
 *
 * Results have one shape for both runners: `{ files, problem }`. A file is `{ file, seconds, passed, failed, skipped,
 * failures: [{ test, message }] }`; a file that could not be loaded has one failure without a test. `problem` is null or
 * the reason why the run as a whole is worth nothing, such as a runner that wrote no result.
 */

/** More flaky files than this fail the whole run. */
export const MOST_FLAKY = 5;
/** With more failed files than this none is repeated: the verdict is certain and the repeats would take long. */
export const MOST_REPEATED = 20;

/**
 * Repeats each failed file of the suites once, alone, and puts the second result in the place of the first.
 * Shape: `suites` are `{ run(file), files, problem }`; each gets `flaky`, the first results of its files that passed on
 * the repeat.
 */
export async function repeatFailed(suites, say = () => {}) {
  const count = suites.flatMap(failedFiles).length;
  for (const suite of suites) suite.flaky = [];
  if (count > MOST_REPEATED) {
    say(`${count} spec files failed, which is more than ${MOST_REPEATED}: none is repeated`);
    return;
  }
  for (const suite of suites) for (const first of failedFiles(suite)) await repeat(suite, first, say);
}

const failedFiles = ({ files }) => files.filter((file) => file.failed > 0);

/** Without a second result, or when no test ran in it, the first one remains. */
async function repeat(suite, first, say) {
  say(`repeating ${first.file}, which failed`);
  const again = await suite.run(first.file).catch((error) => ({ files: [], problem: error.message }));
  if (again.problem !== null) say(again.problem);
  const second = again.files.find(({ file }) => file === first.file);
  if (!second || again.problem !== null || second.passed + second.failed === 0) return;
  suite.files[suite.files.indexOf(first)] = { ...second, seconds: first.seconds };
  if (second.failed === 0) suite.flaky.push(first);
}

/** One line on a flaky file: its name, the first failed test and the first lines of its message. */
export function flakyLine({ file, failures: [{ test, message }] }) {
  return `flaky: ${file}: ${test ?? 'could not be loaded'}: ${firstLines(message)}`;
}

/** Stack frames, jest's headings and its excerpts of the source, which say nothing about the failure. */
const NOISE = /^(?:$|at |● |>? ?\d* ?\|)/;

/** Bounds: three lines that say something, 300 characters. */
function firstLines(message) {
  const lines = plain(message)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !NOISE.test(line));
  const text = lines.slice(0, 3).join(' | ');
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

/** The text without the colours that runners put in. */
function plain(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}
