const { isFirstTime } = require('./first-time.cjs');

// The module system of the file fails, not a test in it.
if (isFirstTime(__filename)) throw new Error('not loaded the first time');

it('is there the second time', () => {
  expect(1).toBe(1);
});
