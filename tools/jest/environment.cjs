/**
 * The environment of a spec file: the realm of the worker itself and not a `vm` context, so that a file and the packages
 * that files share (runtime.cjs) have one `Error`, one `Date` and one `Array`. What a file leaves there is put back when
 * it ends: globals, `process` with its variables, listeners and folder, and the matchers of `expect`. What it does to an
 * object inside of them (`Array.prototype`) stays; no file does that.
 */
const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { leftAsFound } = require('./left-as-found.cjs');

module.exports = class SharedRealm {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.putBack = leftAsFound();
    // A file may start more services than that; each adds listeners to the process, which end with the file.
    process.setMaxListeners(0);
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = new LegacyFakeTimers({
      config: projectConfig,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig: { idToRef: (timer) => timer, refToId: (timer) => timer },
    });
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    // Jest asks this whether the file has ended.
    this.global = null;
    this.putBack();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** None: runtime.cjs compiles for the realm of the worker. */
  getVmContext() {
    return null;
  }
};
