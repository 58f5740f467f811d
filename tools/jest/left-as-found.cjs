/** Where `expect` keeps its matchers. It finds them there again, whichever file loads it, and lets nobody delete them. */
const MATCHERS = Symbol.for('$$jest-matchers-object');
/** What `process` is as an EventEmitter: its methods alone change that. */
const EMITTER = new Set(['_events', '_eventsCount', '_maxListeners']);

/** Remembers the realm and the process; what it answers puts them back. */
exports.leftAsFound = () => {
  const objects = [globalThis, process].map((object) => [object, Object.getOwnPropertyDescriptors(object)]);
  const variables = { ...process.env };
  const folder = process.cwd();
  const listeners = new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
  return () => {
    if (globalThis[MATCHERS]) Object.assign(globalThis[MATCHERS], noMatchers());
    for (const [object, found] of objects) putBackProperties(object, found);
    putBackVariables(variables);
    if (process.cwd() !== folder) process.chdir(folder);
    for (const name of process.eventNames())
      for (const listener of process.rawListeners(name))
        if (!listeners.get(name)?.includes(listener)) process.removeListener(name, listener);
  };
};

function putBackProperties(object, found) {
  for (const name of Reflect.ownKeys(object)) {
    const now = Object.getOwnPropertyDescriptor(object, name);
    if (!now.configurable || EMITTER.has(name)) continue;
    if (!Object.hasOwn(found, name)) delete object[name];
    else if (['value', 'get', 'set'].some((part) => now[part] !== found[name][part]))
      Object.defineProperty(object, name, found[name]);
  }
  for (const name of Reflect.ownKeys(found))
    if (!Object.hasOwn(object, name)) Object.defineProperty(object, name, found[name]);
}

function putBackVariables(found) {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(found, name)) delete process.env[name];
  for (const [name, value] of Object.entries(found)) if (process.env[name] !== value) process.env[name] = value;
}

/** As `expect` begins. */
function noMatchers() {
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
