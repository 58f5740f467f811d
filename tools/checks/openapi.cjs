/**
 * Prints the OpenAPI document of one built service: `node tools/checks/openapi.cjs identity`. Endpoints register
 * themselves when their controllers are loaded, so each service is read in a process of its own.
 */
require('reflect-metadata');
const { join } = require('node:path');

const root = join(__dirname, '../..');
const service = process.argv[2];
const { version } = require(join(root, 'package.json'));
require(join(root, `apps/${service}/dist/${service}.module.js`));
const { openApiDocument } = require(join(root, 'libs/api-v4/dist/index.js'));
process.stdout.write(`${JSON.stringify(openApiDocument({ service, version }), null, 2)}\n`, () => process.exit(0));
