const { isFirstTime } = require('./first-time.cjs');

describe('a file', () => {
  it('fails the first time', () => {
    expect(isFirstTime(__filename) ? 1 : 2).toBe(2);
  });

  it('has a test that passes', () => {
    expect(1).toBe(1);
  });
});
