/**
 * Prints what one built service does on the message bus: `node tools/checks/bus.cjs identity`. Effects declare themselves
 * when their controllers are loaded, so each service is read in a process of its own. The members of event families
 * stand in the providers of the service's module, which is put together and not started.
 * Shape: `{ publish, subscribe, effects: [{ effect, subject }] }`.
 */
require('reflect-metadata');
const { join } = require('node:path');

const root = join(__dirname, '../..');
const service = process.argv[2];
const library = (name) => require(join(root, `libs/${name}/dist/index.js`));
const { platformSettings, readSettings } = library('platform');
const { databaseSettingsFor } = library('persistence');
const { busRightsOf, declaredEffects } = library('messaging');

const [Module] = Object.values(require(join(root, `apps/${service}/dist/${service}.module.js`)));
const internalKeys = [
  [service, 'identity'],
  [service, 'collaboration'],
  [service, 'admin'],
]
  .map(([caller, callee], at) => `none/${caller}/${callee}:${Buffer.alloc(32, at).toString('base64')}`)
  .join(',');
const values = readSettings([platformSettings, databaseSettingsFor(service)], {
  [`DATABASE_URL_${service.toUpperCase()}`]: 'postgres://nobody@localhost/none',
  ROOKERY_INTERNAL_KEYS: internalKeys,
  ROOKERY_CONTEXT_KEYS: `none/${service}:${Buffer.alloc(32).toString('base64')}`,
});
const provided = (module) => [...(module.providers ?? []), ...(module.imports ?? []).flatMap(provided)];
const providers = provided(Module.forRoot(values));

function membersOf({ name, token }) {
  const provider = providers.find(({ provide }) => provide === token);
  if (!provider) throw new Error(`${service} provides no members of the family "${name}"`);
  return provider.useValue;
}

const declared = declaredEffects(membersOf);
const effects = declared.map(({ name, definition }) => ({ effect: name, subject: definition.subject }));
process.stdout.write(JSON.stringify({ ...busRightsOf(service, declared), effects }), () => process.exit(0));
