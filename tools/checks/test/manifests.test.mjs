/** What compose, manifests and the script that makes their secrets have in common. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { INTERNAL_PAIRS, PROCESSES, SERVICES } from '../../estate/environment.mjs';
import { ASKS_OUTSIDE } from '../../network-policies.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');
const filesBelow = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
const objects = filesBelow(join(root, 'deploy/base'))
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8'), { merge: true }).map((one) => one.toJS()));
const podsOf = ({ spec }) => spec.template;
const workloads = objects.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind));
const nameOf = (object) => podsOf(object).metadata.labels['app.kubernetes.io/name'];
const overlay = parse(read('deploy/overlays/local/kustomization.yaml'));
const secrets = new Map(overlay.secretGenerator.map(({ name, files }) => [name, files.map((file) => file.split('='))]));

let folder;
let printed;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-secrets-'));
  const script = join(folder, 'make-secrets.sh');
  copyFileSync(join(root, 'deploy/overlays/local/make-secrets.sh'), script);
  printed = execFileSync('sh', [script, 'env'], { encoding: 'utf8' });
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe('secrets', () => {
  it('that pods mount or read are in the overlay, and made by the script', () => {
    const keysOf = (name) => (secrets.get(name) ?? assert.fail(`no secret ${name}`)).map(([key]) => key);
    for (const object of workloads) {
      const { volumes = [], containers } = podsOf(object).spec;
      const files = containers.flatMap(({ volumeMounts = [] }) =>
        volumeMounts.flatMap(({ name, mountPath }) => {
          const { secret } = volumes.find((volume) => volume.name === name) ?? {};
          const keys = secret ? keysOf(secret.secretName) : [];
          for (const { key } of secret?.items ?? [])
            assert.ok(keys.includes(key), `${secret.secretName} has no ${key}`);
          return (secret?.items?.map(({ path }) => path) ?? keys).map((path) => `${mountPath}/${path}`);
        }),
      );
      for (const { name, value, valueFrom } of containers.flatMap(({ env = [] }) => env)) {
        const isFile = value?.startsWith('/etc/rookery/');
        assert.ok(!isFile || files.includes(value), `${nameOf(object)} has no file for ${name}`);
        const { secretKeyRef: ref } = valueFrom ?? {};
        assert.ok(!ref || keysOf(ref.name).includes(ref.key), `${nameOf(object)}: no secret for ${name}`);
      }
    }
    for (const [name, files] of secrets)
      for (const [key, file] of files)
        assert.ok(existsSync(join(folder, file)), `${name} ${key}: nothing makes ${file}`);
  });

  it('are mounted by the pod that they are for alone, and by its Jobs without its account of the bus', () => {
    const mounted = workloads.flatMap((object) =>
      (podsOf(object).spec.volumes ?? []).flatMap(({ secret }) =>
        secret
          ? (secret.items?.map(({ key }) => key) ?? ['all']).map((key) => [nameOf(object), secret.secretName, key])
          : [],
      ),
    );
    const ofJobs = (name) => ['internal-keys', 'context-keys', 'database-url'].map((key) => [`${name}-secrets`, key]);
    const wanted = [
      ...PROCESSES.map((name) => [name, `${name}-secrets`, 'all']),
      ...SERVICES.flatMap((name) => ofJobs(name).map((one) => [`${name}-migrate`, ...one])),
      ...ofJobs('identity').map((one) => ['identity-bootstrap', ...one]),
      ['identity-bootstrap', 'root-token', 'all'],
    ];
    assert.deepEqual(mounted.map(String).sort(), wanted.map(String).sort());
    const read = workloads.flatMap((object) =>
      podsOf(object).spec.containers.flatMap(({ env = [], envFrom = [] }) => [
        ...env.flatMap(({ valueFrom }) =>
          valueFrom?.secretKeyRef ? [[nameOf(object), valueFrom.secretKeyRef.name]] : [],
        ),
        ...envFrom.flatMap(({ secretRef }) => (secretRef ? [[nameOf(object), secretRef.name]] : [])),
      ]),
    );
    assert.deepEqual([...new Set(read.map(String))].sort(), ['nats,nats-passwords', 'postgres,postgres']);
  });

  it('that compose demands are printed by the script', () => {
    const demanded = [...read('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    const made = printed
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    assert.deepEqual([...new Set(demanded)].sort(), made.sort());
  });

  it('hold a key for each pair of processes that talk, and no other', () => {
    const keysOf = (name) => readFileSync(join(folder, 'secrets', `${name}-internal-keys`), 'utf8').split(',');
    const pairs = PROCESSES.flatMap((name) => keysOf(name).map((key) => key.split(':')[0].replace('k1/', '')));
    const wanted = INTERNAL_PAIRS.flatMap((pair) => [pair.join('/'), pair.join('/')]);
    assert.deepEqual(pairs.sort(), wanted.sort());
  });

  it('hold the key of each service for it and the gateway alone, and each key once', () => {
    const made = (file) => readFileSync(join(folder, 'secrets', file), 'utf8');
    const contextKeys = SERVICES.map((name) => made(`${name}-context-keys`));
    SERVICES.forEach((name, at) => assert.match(contextKeys[at], new RegExp(`^k1/${name}:[A-Za-z0-9+/]{43}=$`)));
    assert.equal(made('gateway-context-keys'), contextKeys.join(','));
    const internalKeys = INTERNAL_PAIRS.map((pair) => made(`${pair.join('-to-')}-key`));
    const keys = [...contextKeys, ...internalKeys].map((key) => key.split(':')[1]);
    assert.equal(new Set(keys).size, keys.length);
  });

  it('are those of the process whose name they have, in the overlay and for Compose', () => {
    for (const name of PROCESSES) {
      const files = secrets.get(`${name}-secrets`).filter(([key]) => key !== 'geo-shared-secret');
      for (const [key, file] of files) assert.equal(file, `secrets/${name}-${key}`);
    }
    for (const [user, file] of secrets.get('nats-passwords')) assert.equal(file, `secrets/${user}-bus-password`);
    const variables = { CONTEXT_KEYS: 'context-keys', INTERNAL_KEYS: 'internal-keys' };
    const passwords = { DATABASE_PASSWORD: 'database-password', NATS_PASSWORD: 'bus-password' };
    for (const name of PROCESSES)
      for (const [variable, file] of Object.entries({ ...variables, ...(name === 'gateway' ? {} : passwords) })) {
        const value = readFileSync(join(folder, `secrets/${name}-${file}`), 'utf8');
        assert.ok(printed.split('\n').includes(`${variable}_${name.toUpperCase()}=${value}`), `${variable} of ${name}`);
      }
  });

  it('of geo are given to admin alone, everywhere', () => {
    const holders = workloads.filter((object) => JSON.stringify(object).includes('geo-shared-secret')).map(nameOf);
    assert.deepEqual(holders, ['admin']);
    const { services } = parse(read('docker-compose.yml'), { merge: true });
    const told = Object.keys(services).filter((name) => 'GEO_SHARED_SECRET' in (services[name].environment ?? {}));
    assert.deepEqual(told, ['admin']);
  });
});

describe('compose', () => {
  const { services } = parse(read('docker-compose.yml'), { merge: true });
  const holders = (word) =>
    Object.keys(services).filter((name) => JSON.stringify(services[name].environment ?? {}).includes(word));

  it('gives each service a role, a database and an account of its own, jobs no account, and the superuser to none', () => {
    for (const name of SERVICES) {
      const own = [name, `${name}-migrate`, ...(name === 'identity' ? ['identity-bootstrap'] : [])].sort();
      const NAME = name.toUpperCase();
      const url = `postgres://${name}:\${DATABASE_PASSWORD_${NAME}:?make the secrets first}@postgres:5432/${name}`;
      const bus = `nats://${name}:\${NATS_PASSWORD_${NAME}:?make the secrets first}@nats:4222`;
      for (const one of own) {
        const { environment } = services[one];
        const account = one === name ? bus : undefined;
        assert.deepEqual([environment[`DATABASE_URL_${NAME}`], environment.NATS_URL], [url, account]);
      }
      assert.deepEqual(holders(`DATABASE_PASSWORD_${NAME}`).sort(), [...own, 'postgres'].sort());
      assert.deepEqual(holders(`NATS_PASSWORD_${NAME}`).sort(), [name, 'nats'].sort());
      for (const kind of ['CONTEXT', 'INTERNAL']) assert.deepEqual(holders(`${kind}_KEYS_${NAME}`).sort(), own);
    }
    for (const kind of ['CONTEXT', 'INTERNAL']) assert.deepEqual(holders(`${kind}_KEYS_GATEWAY`), ['gateway']);
    assert.deepEqual(holders('{POSTGRES_PASSWORD'), ['postgres']);
    assert.deepEqual(holders('NATS_PASSWORD_OPERATOR'), ['nats']);
    assert.deepEqual(holders('ROOKERY_ROOT_TOKEN'), ['identity-bootstrap']);
  });

  it('makes roles that are no superusers, and let nobody else into their database', () => {
    const script = read('deploy/overlays/local/init-databases.sh');
    const roles = script.split('\n').filter((line) => /\b(create|alter) (role|user)\b/i.test(line));
    assert.deepEqual(roles, ['\tcreate role :"service" login password :\'password\';']);
    assert.doesNotMatch(script, /\bgrant\b/i);
    assert.match(script, /revoke all on database :"service" from public;/);
  });

  it('opens the gateway to others, caught mail to this machine, and nothing else to anybody', () => {
    const ports = Object.fromEntries(
      Object.entries(services).flatMap(([name, { ports: open }]) => (open ? [[name, open]] : [])),
    );
    assert.deepEqual(ports, { mail: ['127.0.0.1:8025:8025'], gateway: ['8080:8080'] });
    assert.ok(Object.values(services).every(({ network_mode }) => network_mode === undefined));
  });
});

it('the bus has accounts in containers as on one machine', () => {
  assert.match(read('deploy/base/nats/nats.conf'), /^include users\.conf$/m);
  const users = read('deploy/base/nats/users.conf');
  assert.match(users, /^authorization \{$/m);
  const named = [...users.matchAll(/user: (\w+), password: \$NATS_PASSWORD_(\w+)/g)].map(([, ...names]) => names);
  const wanted = ['operator', ...SERVICES].map((name) => [name, name.toUpperCase()]);
  assert.deepEqual(named.map(String).sort(), wanted.map(String).sort());
  assert.equal(users.match(/permissions: \{/g).length, SERVICES.length);
});

describe('network policies', () => {
  const policies = objects
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ metadata, spec }) => ({
      name: metadata.name,
      ...spec,
      pods: spec.podSelector.matchLabels
        ? [spec.podSelector.matchLabels['app.kubernetes.io/name']]
        : spec.podSelector.matchExpressions[0].values,
    }));
  const of = (name, type) =>
    policies.filter(({ pods, policyTypes }) => pods.includes(name) && policyTypes.includes(type));

  it('say of every pod whom it may connect to, and of all but the door and jobs who may connect to it', () => {
    for (const object of workloads) {
      const name = nameOf(object);
      assert.ok(of(name, 'Egress').length > 0, `${name} may connect anywhere`);
      const isServer = object.kind !== 'Job' && name !== 'gateway';
      assert.equal(of(name, 'Ingress').length > 0, isServer, `${name} takes connections from anywhere`);
    }
    const names = new Set(workloads.map(nameOf));
    for (const { pods } of policies)
      for (const pod of pods) assert.ok(names.has(pod) || pod === 'mail', `no pod ${pod}`);
  });

  it('let out only those whose code goes through libs/egress', () => {
    const users = PROCESSES.filter((name) =>
      filesBelow(join(root, 'apps', name, 'src')).some((file) =>
        readFileSync(file, 'utf8').includes('@rookery/egress'),
      ),
    );
    assert.deepEqual(ASKS_OUTSIDE, users);
    const opened = policies.filter(({ egress = [] }) =>
      egress.some(({ to = [] }) => to.some(({ ipBlock }) => ipBlock)),
    );
    assert.deepEqual(
      opened.map(({ pods }) => pods),
      [users],
    );
  });

  it('open the same connections at both ends', () => {
    const ends = (direction, end) =>
      policies.flatMap(({ pods, [direction]: rules = [] }) =>
        rules.flatMap(({ ports = [], [end]: others = [] }) =>
          others
            .filter(({ podSelector }) => podSelector)
            .flatMap(({ podSelector: { matchLabels, matchExpressions } }) =>
              matchLabels ? [matchLabels['app.kubernetes.io/name']] : matchExpressions[0].values,
            )
            .flatMap((other) => pods.map((pod) => [pod, other, ...ports.map(({ port }) => port)])),
        ),
      );
    // Management ports are open to all, and asked by the gateway.
    const outgoing = ends('egress', 'to').filter(([, , port]) => port !== 'management');
    const incoming = ends('ingress', 'from').map(([pod, other, port]) => [other, pod, port]);
    assert.deepEqual(outgoing.map(String).sort(), incoming.map(String).sort());
  });
});
