require('reflect-metadata');

/**
 * Many tests count days (UTC) when they begin and look at them when they end. A file that would begin shortly before
 * the day turns begins after it. Units: milliseconds.
 */
const DAY = 86_400_000;
const LONGEST_FILE = 150_000;
const left = DAY - (Date.now() % DAY);
if (left < LONGEST_FILE) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left + 1000);
