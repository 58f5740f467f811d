/** A filter of jest (`--filter`): of the files that a run selects, only the one that TEST_ONLY_FILE names. */
module.exports = async (paths) => ({
  filtered: paths.filter((path) => path === process.env.TEST_ONLY_FILE),
});
