/** The end of a test run: slowest spec files, flaky files, time of each phase and the closing line with the totals. */
import { flakyLine, MOST_FLAKY } from './repeats.mjs';

const SLOWEST = 10;

export class Report {
  #totals = { passed: 0, failed: 0, skipped: 0 };
  #files = [];
  #flaky = [];
  #problems = [];
  #phases = [];
  #startedAt = performance.now();
  #failedCheck = null;

  /** Adds the results of a suite. Shape: `{ name, files, flaky, problem }` (repeats.mjs). */
  add({ files, flaky = [], problem = null }) {
    this.#files.push(...files);
    this.#flaky.push(...flaky);
    for (const file of files) for (const name of Object.keys(this.#totals)) this.#totals[name] += file[name];
    if (problem === null) return;
    this.#problems.push(problem);
    this.#totals.failed += 1;
  }

  /** Counts one test that belongs to no file. `outcome` is `passed` or `failed`. */
  count(outcome) {
    this.#totals[outcome] += 1;
  }

  checkFailed(status) {
    this.#failedCheck = status;
  }

  /** Runs a phase and remembers how long it took, also if it fails. */
  async timed(phase, work) {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.#phases.push(`phase ${phase}: ${seconds(performance.now() - startedAt)}`);
    }
  }

  get hasFailed() {
    return this.#totals.failed > 0 || this.#failedCheck !== null || this.#isTooFlaky;
  }

  get #isTooFlaky() {
    return this.#flaky.length > MOST_FLAKY;
  }

  /** The last one holds the totals. */
  lines() {
    const { passed, failed, skipped } = this.#totals;
    const slowest = this.#files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    const tooMany = `${this.#flaky.length} spec files are flaky; more than ${MOST_FLAKY} fail the run`;
    return [
      ...slowest.map((file) => `slow: ${file.file}: ${seconds(file.seconds * 1000)}`),
      ...this.#phases,
      `all phases, some of them side by side: ${seconds(performance.now() - this.#startedAt)}`,
      ...this.#flaky.map(flakyLine),
      ...(this.#failedCheck === null ? [] : [`npm run check failed with status ${this.#failedCheck}`]),
      ...this.#problems,
      ...(this.#isTooFlaky ? [tooMany] : []),
      `${passed} passed, ${failed + (this.#isTooFlaky ? 1 : 0)} failed, ${skipped} skipped`,
    ];
  }
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
