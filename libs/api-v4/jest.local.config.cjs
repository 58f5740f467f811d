/** The API specs of this library over calls within one process (ADR 0199). */
module.exports = require('../../tools/jest/project.cjs').overLocalCalls('api-v4', __dirname);
