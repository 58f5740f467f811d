/**
 * A filter of jest (`--filter`) that keeps only the file that TEST_ONLY_FILE names.
 * @param {string[]} paths
 */
module.exports = async (paths) => ({
  filtered: paths.filter((path) => path === process.env['TEST_ONLY_FILE']),
});
