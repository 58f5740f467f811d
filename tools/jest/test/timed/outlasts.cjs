const { existsSync, rmSync, writeFileSync } = require('node:fs');
const { setTimeout: pause } = require('node:timers/promises');

/** Returns at once in the first file of a run with a time limit, and after that time in the second one. */
exports.outlasts = async () => {
  const until = Number(process.env['TEST_UNTIL'] ?? 0);
  if (until === 0) return;
  const mark = `${process.env['TEST_LIST']}.first`;
  if (!existsSync(mark)) return writeFileSync(mark, '');
  rmSync(mark);
  while (Date.now() <= until + 100) await pause(50);
};
