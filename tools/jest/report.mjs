/**
 * The end of a test run: slowest spec files, flaky files, time of each phase and the last line with the totals.
 *
 * @import { FileResult } from './repeats.mjs'
 */
import { failedLines, flakyLine, MOST_FLAKY } from './repeats.mjs';

const SLOWEST = 10;
/** Number of failed tests that are listed. */
const MOST_FAILED = 50;
/** @type {['passed', 'failed', 'skipped']} */
const OUTCOMES = ['passed', 'failed', 'skipped'];

export class Report {
  #totals = { passed: 0, failed: 0, skipped: 0 };
  /** @type {FileResult[]} */
  #files = [];
  /** @type {FileResult[]} */
  #flaky = [];
  /** @type {string[]} */
  #problems = [];
  /** @type {string[]} */
  #phases = [];
  #startedAt = performance.now();
  /** @type {number | null} */
  #failedCheck = null;
  /** @type {string[]} */
  #notRun = [];

  /**
   * Adds the results of a suite.
   * @param {{ files: FileResult[], flaky?: FileResult[], problem?: string | null, notRun?: string[] }} suite
   */
  add({ files, flaky = [], problem = null, notRun = [] }) {
    this.#notRun.push(...notRun);
    this.#files.push(...files);
    this.#flaky.push(...flaky);
    for (const file of files) for (const outcome of OUTCOMES) this.#totals[outcome] += file[outcome];
    if (problem === null) return;
    this.#problems.push(problem);
    this.#totals.failed += 1;
  }

  /**
   * Counts one test that belongs to no file.
   * @param {'passed' | 'failed'} outcome
   */
  count(outcome) {
    this.#totals[outcome] += 1;
  }

  /** @param {number} status */
  checkFailed(status) {
    this.#failedCheck = status;
  }

  /**
   * Runs a phase and records its duration, also if it fails.
   * @template T
   * @param {string} phase
   * @param {() => Promise<T> | T} work
   * @returns {Promise<T>}
   */
  async timed(phase, work) {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.#phases.push(`phase ${phase}: ${formatSeconds(performance.now() - startedAt)}`);
    }
  }

  get hasFailed() {
    return this.#totals.failed > 0 || this.#failedCheck !== null || this.#isTooFlaky;
  }

  get #isTooFlaky() {
    return this.#flaky.length > MOST_FLAKY;
  }

  /** Lines of the report: failures near the end, where a shortened log still shows them, and the totals last. */
  lines() {
    const { passed, failed, skipped } = this.#totals;
    const slowest = [...this.#files].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    const tooMany = `${this.#flaky.length} spec files are flaky; more than ${MOST_FLAKY} fail the run`;
    return [
      ...this.#notRun.map((file) => `not run, because the time was up: ${file}`),
      ...slowest.map((file) => `slow: ${file.file}: ${formatSeconds(file.seconds * 1000)}`),
      ...this.#phases,
      `all phases, some of them in parallel: ${formatSeconds(performance.now() - this.#startedAt)}`,
      ...this.#flaky.map(flakyLine),
      ...this.#files.flatMap(failedLines).slice(0, MOST_FAILED),
      ...(this.#failedCheck === null ? [] : [`npm run check failed with status ${this.#failedCheck}`]),
      ...this.#problems,
      ...(this.#isTooFlaky ? [tooMany] : []),
      `${passed} passed, ${failed + (this.#isTooFlaky ? 1 : 0)} failed, ${skipped} skipped`,
    ];
  }
}

/** @param {number} ms */
const formatSeconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
