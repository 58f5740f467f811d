/**
 * @typedef {PropertyDescriptor} Descriptor
 * @typedef {Record<string | symbol, Descriptor | undefined>} Descriptors
 */
/** Property in which `expect` keeps its matchers, for all files that load it. It cannot be deleted. */
const MATCHERS = Symbol.for('$$jest-matchers-object');
/**
 * Internal properties of `process` as an EventEmitter, which only its methods may change.
 * @type {Set<string | symbol>}
 */
const EMITTER = new Set(['_events', '_eventsCount', '_maxListeners']);

/** Captures globals and the state of the process. Returns a function that restores them. */
exports.captureGlobalState = () => {
  const objects = [globalThis, process].map((object) => ({
    object: /** @type {Record<string | symbol, any>} */ (object),
    /** @type {Descriptors} */
    found: Object.getOwnPropertyDescriptors(object),
  }));
  const variables = { ...process.env };
  const folder = process.cwd();
  const listeners = new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
  return () => {
    const matchers = /** @type {any} */ (globalThis)[MATCHERS];
    if (matchers) Object.assign(matchers, initialExpectState());
    for (const { object, found } of objects) restoreProperties(object, found);
    restoreVariables(variables);
    if (process.cwd() !== folder) process.chdir(folder);
    for (const name of process.eventNames())
      for (const listener of process.rawListeners(name))
        if (!listeners.get(name)?.includes(listener)) process.removeListener(name, /** @type {any} */ (listener));
  };
};

/**
 * @param {Record<string | symbol, any>} object
 * @param {Descriptors} saved
 */
function restoreProperties(object, saved) {
  for (const name of Reflect.ownKeys(object)) {
    const now = /** @type {Descriptor} */ (Object.getOwnPropertyDescriptor(object, name));
    if (!now.configurable || EMITTER.has(name)) continue;
    const before = saved[name];
    if (!before) delete object[name];
    else if (now.value !== before.value || now.get !== before.get || now.set !== before.set)
      Object.defineProperty(object, name, before);
  }
  for (const name of Reflect.ownKeys(saved)) {
    const before = saved[name];
    if (before && !Object.hasOwn(object, name)) Object.defineProperty(object, name, before);
  }
}

/** @param {NodeJS.ProcessEnv} saved */
function restoreVariables(saved) {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(saved, name)) delete process.env[name];
  for (const [name, value] of Object.entries(saved)) if (process.env[name] !== value) process.env[name] = value;
}

/** The initial state of `expect`. */
function initialExpectState() {
  return {
    customEqualityTesters: [],
    matchers: Object.create(null),
    state: {
      assertionCalls: 0,
      expectedAssertionsNumber: null,
      isExpectingAssertions: false,
      numPassingAsserts: 0,
      suppressedErrors: [],
    },
  };
}
