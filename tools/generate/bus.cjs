/**
 * Prints the permissions and effects of one built service on the message bus: `node tools/generate/bus.cjs identity`.
 * Effects are declared when their controllers are loaded, so each service is loaded in a separate process. The members
 * of event families are providers of the service's module, which is composed but not started. The output has the form
 * `{ publish, subscribe, effects: [{ effect, subject }] }`.
 */
require('reflect-metadata');
const { join } = require('node:path');

const root = join(__dirname, '../..');
const service = process.argv[2] ?? '';
/** @param {string} name */
const loadLibrary = (name) => require(join(root, `libs/${name}/dist/index.js`));
const { platformSettings, readSettings } = loadLibrary('platform');
const { databaseSettingsFor } = loadLibrary('persistence');
const { busRightsOf, declaredEffects } = loadLibrary('messaging');

const [Module] = Object.values(require(join(root, `apps/${service}/dist/${service}.module.js`)));
const internalKeys = [
  [service, 'identity'],
  [service, 'collaboration'],
  [service, 'admin'],
]
  .map(([caller, callee], at) => `none/${caller}/${callee}:${Buffer.alloc(32, at).toString('base64')}`)
  .join(',');
const values = readSettings([platformSettings, databaseSettingsFor(service)], {
  [`DATABASE_URL_${service.toUpperCase()}`]: 'postgres://none@localhost/none',
  ROOKERY_INTERNAL_KEYS: internalKeys,
  ROOKERY_CONTEXT_KEYS: `none/${service}:${Buffer.alloc(32).toString('base64')}`,
});
/** @type {(module: any) => any[]} */
const allProviders = (module) => [...(module.providers ?? []), ...(module.imports ?? []).flatMap(allProviders)];
const providers = allProviders(Module.forRoot(values));

/** @param {{ name: string, token: unknown }} family */
function familyMembersOf({ name, token }) {
  const provider = providers.find(({ provide }) => provide === token);
  if (!provider) throw new Error(`${service} provides no members of the family "${name}"`);
  return provider.useValue;
}

/** @type {{ name: string, definition: { subject: string } }[]} */
const declared = declaredEffects(familyMembersOf);
const effects = declared.map(({ name, definition }) => ({ effect: name, subject: definition.subject }));
process.stdout.write(JSON.stringify({ ...busRightsOf(service, declared), effects }), () => process.exit(0));
