/** The API specs of this service over calls within one process (ADR 0199), without the two longest. */
const project = require('../../tools/jest/project.cjs').overLocalCalls('admin', __dirname);
const longest = ['feature-levels', 'role-matrix'];
module.exports = { ...project, testPathIgnorePatterns: [...project.testPathIgnorePatterns, ...longest] };
