/** A module of the repository with state. */
exports.count = 0;
