/**
 * Repeats of failed spec files. A file that passes alone on the second attempt is flaky: it is listed, and its tests count
 * as passed. A file that fails twice has failed.
 *
 * Results have the same shape for both runners. A file that could not be loaded has one failure without a test. `problem` is
 * null or the reason why the whole run is invalid, such as a runner that wrote no result. `notRun` names files for which
 * the time did not suffice.
 *
 * @typedef {{ file: string, seconds: number, passed: number, failed: number, skipped: number,
 *   failures: { test: string | null, message: string }[] }} FileResult
 * @typedef {{ files: FileResult[], problem: string | null, notRun?: string[] }} SuiteResult
 * @typedef {SuiteResult & { run(file: string): Promise<SuiteResult>, flaky?: FileResult[] }} Suite
 */

/** More flaky files than this fail the whole run. */
export const MOST_FLAKY = 5;
/** Maximum number of failed files to repeat: with more, the run has certainly failed, and the repeats would take long. */
export const MOST_REPEATED = 20;

/**
 * Repeats each failed file of the suites once, alone, and replaces the first result by the second one. Each suite gets
 * `flaky`, the first results of its files that passed on the repeat.
 * @param {Suite[]} suites
 * @param {(text: string) => void} [say]
 */
export async function repeatFailed(suites, say = () => {}) {
  const count = suites.flatMap(failedFiles).length;
  for (const suite of suites) suite.flaky = [];
  if (count > MOST_REPEATED) {
    say(`${count} spec files failed, which is more than ${MOST_REPEATED}: none is repeated`);
    return;
  }
  for (const suite of suites) for (const first of failedFiles(suite)) await repeatFile(suite, first, say);
}

/** @param {SuiteResult} result */
const failedFiles = ({ files }) => files.filter((file) => file.failed > 0);

/**
 * Repeats one file. Without a second result, or if it contains no test, the first result remains.
 * @param {Suite} suite
 * @param {FileResult} first
 * @param {(text: string) => void} say
 */
async function repeatFile(suite, first, say) {
  say(`repeating ${first.file}, which failed`);
  const again = await suite
    .run(first.file)
    .catch((error) => /** @type {SuiteResult} */ ({ files: [], problem: error.message }));
  if (again.problem !== null) say(again.problem);
  const second = again.files.find(({ file }) => file === first.file);
  if (!second || again.problem !== null || second.passed + second.failed === 0) return;
  suite.files[suite.files.indexOf(first)] = { ...second, seconds: first.seconds };
  if (second.failed === 0) suite.flaky?.push(first);
}

/**
 * Describes a flaky file in one line: its name, the first failed test and the first lines of its message.
 * @param {FileResult} result
 */
export function flakyLine({ file, failures: [failure] }) {
  return `flaky: ${file}: ${failure?.test ?? 'could not be loaded'}: ${summarizeMessage(failure?.message ?? '')}`;
}

/**
 * Describes each failed test of a file in one line, as `flakyLine` does. Bounds: five tests.
 * @param {FileResult} result
 */
export function failedLines({ file, failures }) {
  return failures
    .slice(0, 5)
    .map(({ test, message }) => `failed: ${file}: ${test ?? 'could not be loaded'}: ${summarizeMessage(message)}`);
}

/** Stack frames, jest's headings and its excerpts of the source, which do not describe the failure. */
const NOISE = /^(?:$|at |● |>? ?\d* ?\|)/;

/**
 * The beginning of a message, without noise. Bounds: three lines, 300 characters.
 * @param {string} message
 */
function summarizeMessage(message) {
  const lines = withoutColours(message)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !NOISE.test(line));
  const text = lines.slice(0, 3).join(' | ');
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

/**
 * The text without colour codes.
 * @param {string} text
 */
function withoutColours(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}
