/**
 * Module loading of spec files. The repository's own modules are evaluated again for each file, from scripts that a worker
 * compiles once. Installed packages are loaded once per worker, by Node itself. Source: ADR 0015.
 *
 * @typedef {Record<string, any>} Statics
 */
const { createRequire, isBuiltin } = require('node:module');
const vm = require('node:vm');
/** Jest's runtime, with its internal methods. @type {any} */
const JestRuntime = require('jest-runtime').default;

/** Modules that are loaded for each file: paths, our libraries, jest itself, and packages whose state cannot be restored. */
const OF_THE_FILE = /^(\.|\/|@rookery\/|@jest\/globals$|@jest\/expect$|expect$|prom-client$)/;
/**
 * Classes whose static properties are restored after each file: Nest's logger is that of the last started application.
 * @type {Record<string, string>}
 */
const STATICS = { '@nestjs/common': 'Logger' };

/** Compiled scripts of this worker, by file name. @type {Map<string, { source: string, script: vm.Script }>} */
const scripts = new Map();
/** Initial static properties, by class. @type {Map<object, Statics>} */
const statics = new Map();

module.exports = class Runtime extends JestRuntime {
  /** @param {...unknown} parts */
  constructor(...parts) {
    super(...parts);
    const { executor } = this;
    executor.compile = (/** @type {string} */ source, /** @type {string} */ filename) =>
      compileModuleFunction(source, filename, executor.injectedModuleParameters);
  }

  /**
   * @param {string} from
   * @param {string} name
   */
  requireModuleOrMock(from, name) {
    const isShared =
      !OF_THE_FILE.test(name) && !isBuiltin(name) && !this.mockState.shouldMockCjs(from, name).shouldMock;
    if (!isShared) return super.requireModuleOrMock(from, name);
    const shared = createRequire(from)(name);
    const owner = STATICS[name] && shared[STATICS[name] ?? ''];
    if (owner && !statics.has(owner)) statics.set(owner, { ...owner });
    return shared;
  }

  teardown() {
    super.teardown();
    for (const [owner, found] of statics) Object.assign(owner, found);
  }
};

/**
 * Compiles a module for the realm of the worker, because there is no `vm` context (environment.cjs).
 * @param {string} source
 * @param {string} filename
 * @param {string[]} parameters
 */
function compileModuleFunction(source, filename, parameters) {
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
