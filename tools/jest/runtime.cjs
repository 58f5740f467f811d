/**
 * How a spec file loads modules. The repository's own are evaluated anew for each file, from scripts that a worker
 * compiles once. Installed packages are loaded once a worker, by Node itself. Source: ADR 0015.
 */
const { createRequire, isBuiltin } = require('node:module');
const vm = require('node:vm');
const { default: JestRuntime } = require('jest-runtime');

/** What belongs to the file: paths, our libraries, jest itself, and packages whose state cannot be put back. */
const OF_THE_FILE = /^(\.|\/|@rookery\/|@jest\/globals$|@jest\/expect$|expect$|prom-client$)/;
/** Statics by which files would see each other: Nest's logger is the last one that an application was started with. */
const STATICS = { '@nestjs/common': 'Logger' };

/** Of this worker. */
const scripts = new Map();
const statics = new Map();

module.exports = class Runtime extends JestRuntime {
  constructor(...parts) {
    super(...parts);
    const { executor } = this;
    executor.compile = (source, filename) => functionOf(source, filename, executor.injectedModuleParameters);
  }

  requireModuleOrMock(from, name) {
    const isShared =
      !OF_THE_FILE.test(name) && !isBuiltin(name) && !this.mockState.shouldMockCjs(from, name).shouldMock;
    if (!isShared) return super.requireModuleOrMock(from, name);
    const shared = createRequire(from)(name);
    const owner = STATICS[name] && shared[STATICS[name]];
    if (owner && !statics.has(owner)) statics.set(owner, { ...owner });
    return shared;
  }

  teardown() {
    super.teardown();
    for (const [owner, found] of statics) Object.assign(owner, found);
  }
};

/** Jest compiles for a `vm` context; there is none (environment.cjs). */
function functionOf(source, filename, parameters) {
  let known = scripts.get(filename);
  if (known?.source !== source) {
    const head = `(function (${parameters.join(', ')}) {`;
    const script = new vm.Script(`${head}${source}\n})`, {
      filename,
      columnOffset: -head.length,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    known = { source, script };
    scripts.set(filename, known);
  }
  return known.script.runInThisContext();
}
