/**
 * The environment of a spec file: the realm of the worker itself and not a `vm` context, so that a file and the packages
 * that files share (runtime.cjs) have one `Error`, one `Date` and one `Array`. Changes of a file are reverted when it ends:
 * globals, `process` with its variables, listeners and folder, and the matchers of `expect`. Changes to objects inside of
 * them (`Array.prototype`) are not reverted; no file makes any.
 */
const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { captureGlobalState } = require('./global-state.cjs');

module.exports = class SharedRealm {
  /** @type {typeof globalThis | null} */
  global = globalThis;

  /** @param {{ projectConfig: import('@jest/types').Config.ProjectConfig }} config */
  constructor({ projectConfig }) {
    this.restore = captureGlobalState();
    // A file may start many services, each of which adds listeners to the process until the file ends.
    process.setMaxListeners(0);
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = new LegacyFakeTimers({
      config: projectConfig,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig: { idToRef: (/** @type {any} */ timer) => timer, refToId: (/** @type {any} */ timer) => timer },
    });
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    // Jest checks this to find out whether the file has ended.
    this.global = null;
    this.restore();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Returns no context: runtime.cjs compiles for the realm of the worker. */
  getVmContext() {
    return null;
  }
};
