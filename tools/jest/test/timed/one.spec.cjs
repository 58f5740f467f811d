const { setTimeout: pause } = require('node:timers/promises');
const { test } = require('@jest/globals');

test('ends after the run’s time', async () => {
  const until = Number(process.env['TEST_UNTIL'] ?? 0);
  while (Date.now() <= until + 100) await pause(50);
});
