/** Whether this file asks for the first time; a mark on the disk remembers it for the repeat in another process. */
const { closeSync, openSync } = require('node:fs');
const { basename, join } = require('node:path');

exports.isFirstTime = (file) => {
  try {
    closeSync(openSync(join(process.env.FAILING_MARKS, basename(file)), 'wx'));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
};
