/**
 * Prints the OpenAPI document of one built service: `node tools/generate/openapi.cjs identity`. Endpoints are registered when
 * their controllers are loaded, so each service is loaded in a separate process. Reads JSON from standard input: `names` of
 * operations by `GET /groups/:`, and `nouns`, the sentence of each wing.
 */
require('reflect-metadata');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '../..');
const service = process.argv[2];
const { names, nouns } = JSON.parse(readFileSync(0, 'utf8'));
const { version } = require(join(root, 'package.json'));
require(join(root, `apps/${service}/dist/${service}.module.js`));
const { openApiDocument } = require(join(root, 'libs/api-v4/dist/index.js'));

/**
 * @param {string} method
 * @param {string} template
 */
function operationNameOf(method, template) {
  const shape = template.replace(/^\/api\/v4/, '').replace(/[:*][A-Za-z_]\w*/g, ':');
  const name = names[`${method} ${shape}`];
  if (name !== undefined) return name;
  throw new Error(`${method} ${template} has no name in the column "operation" of docs/routes.tsv`);
}

process.stdout.write(
  `${JSON.stringify(openApiDocument({ service, version, nameOf: operationNameOf, nouns }), null, 2)}\n`,
  () => process.exit(0),
);
