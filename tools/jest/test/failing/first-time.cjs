/** Whether a file calls this for the first time; a file on the disk records it for the repeat in another process. */
const { closeSync, openSync } = require('node:fs');
const { basename, join } = require('node:path');

/** @param {string} file */
exports.isFirstTime = (file) => {
  try {
    closeSync(openSync(join(process.env['FAILING_MARKS'] ?? '', basename(file)), 'wx'));
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    return false;
  }
};
