/** A module of the repository, with state of its own. */
exports.count = 0;
