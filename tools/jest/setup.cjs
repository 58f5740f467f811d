require('reflect-metadata');

/** Of jest's 100 frames, each is looked up in a source map whenever an error is created whose stack is read. */
Error.stackTraceLimit = 15;

/**
 * Delays files that would start shortly before midnight (UTC) until the next day, because many tests calculate dates at their
 * start and compare them at their end. Units: milliseconds.
 */
const DAY = 86_400_000;
const LONGEST_FILE = 150_000;
const left = DAY - (Date.now() % DAY);
if (left < LONGEST_FILE) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left + 1000);
