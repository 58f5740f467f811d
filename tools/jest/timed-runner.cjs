/**
 * jest's own runner, which ends the run at the moment that `TEST_UNTIL` contains (epoch milliseconds). Files that have not
 * finished by then have no result.
 */
const { default: TestRunner } = require('jest-runner');

module.exports = class TimedRunner extends TestRunner {
  /** @type {import('jest-runner').default['runTests']} */
  async runTests(tests, watcher, options) {
    const until = Number(process.env['TEST_UNTIL'] ?? 0);
    if (until === 0) return super.runTests(tests, watcher, options);
    const end = () => void watcher.setState({ interrupted: true });
    const timer = setTimeout(end, Math.max(0, until - Date.now()));
    try {
      await super.runTests(tests, watcher, options);
    } finally {
      clearTimeout(timer);
    }
  }
};
