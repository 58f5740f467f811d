/** The rules for servers in a production cluster: the overlay and the values keep them, and each seeded fault is caught. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { canRender, renderOverlay } from '../kustomize.mjs';
import { busProblems, DATABASE_CA, serverManifestProblems } from '../manifest-servers.mjs';
import { manifestProblems } from '../manifest-policies.mjs';

const deploy = fileURLToPath(new URL('../../../deploy', import.meta.url));
const overlay = `${deploy}/overlays/production-with-servers`;
/** The parser that the driver uses for its connections. @type {(address: string) => any} */
const parametersOf = createRequire(createRequire(import.meta.url).resolve('pg'))('pg-connection-string');

/** @param {any} pod @param {string} name */
const dropMount = ({ containers: [container] }, name) =>
  (container.volumeMounts = container.volumeMounts.filter((/** @type {any} */ one) => one.name !== name));
/** @param {any} spec @param {string} name */
const ca = ({ template }, name) =>
  template.spec.volumes.find((/** @type {any} */ volume) => volume.name === name).secret;

/**
 * Faults, each in one object: kind, name, change, and the problem that must be found.
 * @type {[kind: string, name: string, change: (spec: any, object: any) => void, problem: RegExp][]}
 */
const FAULTS = [
  ['Cluster', 'identity-db', (spec) => (spec.instances = 2), /fewer than three instances/],
  ['Cluster', 'identity-db', (spec) => delete spec.postgresql.synchronous, /commits that one machine has/],
  ['Cluster', 'admin-db', (spec) => (spec.postgresql.synchronous.dataDurability = 'preferred'), /one machine has/],
  ['Cluster', 'admin-db', (spec) => (spec.postgresql.parameters.fsync = 'off'), /fsync is off/],
  ['Cluster', 'admin-db', (spec) => (spec.postgresql.parameters.synchronous_commit = 'local'), /synchronous_commit/],
  ['Cluster', 'import-db', (spec) => (spec.imageName = 'ghcr.io/cloudnative-pg/postgresql:18'), /without a fixed tag/],
  ['Cluster', 'import-db', (spec) => (spec.affinity.podAntiAffinityType = 'preferred'), /two instances on one node/],
  ['Cluster', 'package-db', (spec) => delete spec.walStorage, /log on the volume of its tables/],
  ['Cluster', 'package-db', (spec) => delete spec.resources, /no limit of memory/],
  ['Cluster', 'package-db', (spec) => delete spec.bootstrap.initdb.dataChecksums, /damaged pages/],
  ['Cluster', 'collaboration-db', (spec) => (spec.postgresql.parameters.max_connections = '100'), /number of connect/],
  ['Cluster', 'collaboration-db', (spec) => delete spec.plugins[0].isWALArchiver, /does not archive its log/],
  ['ObjectStore', 'backups', (_, object) => (object.metadata.name = 'other'), /does not archive its log/],
  ['ObjectStore', 'backups', (spec) => delete spec.retentionPolicy, /never deletes a backup/],
  ['ScheduledBackup', 'import-db', (spec) => (spec.cluster.name = 'other'), /has 0 schedules of backups/],
  ['ScheduledBackup', 'import-db', (spec) => (spec.method = 'volumeSnapshot'), /not back up into the archive/],
  ['ScheduledBackup', 'import-db', (spec) => (spec.schedule = '0 3 * * *'), /without seconds/],
  ['Deployment', 'identity', ({ template: { spec } }) => dropMount(spec, 'database-ca'), /not verify its database/],
  ['Job', 'admin-migrate-0-1-0', ({ template: { spec } }) => dropMount(spec, 'database-ca'), /not verify its database/],
  ['Job', 'identity-bootstrap-0-1-0', (spec) => (ca(spec, 'database-ca').secretName = 'admin-db-ca'), /its database/],
  ['Job', 'package-migrate-0-1-0', (spec) => delete ca(spec, 'database-ca').items, /not verify its database/],
  ['Deployment', 'import', (spec) => ca(spec, 'bus-ca').items.push({ key: 'tls.key', path: 'tls.key' }), /the bus/],
  ['Deployment', 'package', ({ template: { spec } }) => dropMount(spec, 'bus-ca'), /not verify the bus/],
  ['Deployment', 'admin', ({ template: { spec } }) => spec.containers[0].env.pop(), /not verify the bus/],
  ['ScaledObject', 'package', (spec) => (spec.scaleTargetRef.name = 'x'), /unknown Deployment x/],
  ['ScaledObject', 'package', (spec) => (spec.minReplicaCount = 1), /differ in the smallest number/],
  ['ScaledObject', 'package', (spec) => (spec.maxReplicaCount = 20), /connections of 300/],
  ['ScaledObject', 'package', (spec) => (spec.triggers[1].metadata.query = 'up'), /lag of another service/],
  ['ScaledObject', 'package', (spec) => delete spec.triggers[1].metadata.ignoreNullValues, /Prometheus is away/],
  [
    'Deployment',
    'package',
    ({ template: { spec } }) => dropMount(spec, 'bucket'),
    /mount the file of AWS_SECRET_ACCESS/,
  ],
  [
    'Deployment',
    'package',
    ({ template: { spec } }) => spec.volumes.shift(),
    /mount the file of AWS_ACCESS_KEY_ID_FILE/,
  ],
  [
    'Job',
    'package-migrate-0-1-0',
    ({ template: { spec } }) => (spec.containers[0].env[1].value = 's3://b'),
    /another pl/,
  ],
  ['NetworkPolicy', 'package-bucket', (spec) => (spec.egress = []), /may not reach its bucket/],
  ['PodMonitor', 'rookery', (spec) => (spec.selector.matchLabels = { app: 'rookery' }), /gateway is not scraped/],
  ['PodMonitor', 'rookery', (spec) => (spec.podMetricsEndpoints[0].port = 'http'), /admin is not scraped/],
  ['PodMonitor', 'rookery', (spec) => spec.podMetricsEndpoints[0].relabelings.pop(), /alerts do not find/],
  ['PodMonitor', 'rookery', (spec) => spec.podMetricsEndpoints[0].relabelings.shift(), /alerts do not find/],
  [
    'Deployment',
    'gateway',
    ({ template }) => delete template.metadata.labels['app.kubernetes.io/part-of'],
    /not scraped/,
  ],
  [
    'PersistentVolumeClaim',
    'repositories',
    (_, object) => (object.metadata.name = 'package-blobs'),
    /is unused: the files/,
  ],
  ['HorizontalPodAutoscaler', 'gateway', (spec) => (spec.scaleTargetRef.name = 'package'), /second autoscaler/],
];

describe('the overlay with servers', { skip: canRender() ? false : 'kubectl is not installed' }, () => {
  /** @type {string} */
  let rendered;
  before(() => (rendered = renderOverlay(overlay) ?? ''));
  const objects = () => parseAllDocuments(rendered).map((document) => document.toJS());

  it('keeps all rules, with a cluster and a backup for each service', () => {
    const all = objects();
    assert.deepEqual([...manifestProblems(all), ...serverManifestProblems(all)], []);
    for (const kind of ['Cluster', 'ScheduledBackup']) assert.equal(all.filter((one) => one.kind === kind).length, 5);
  });

  it('lets each service reach its own cluster only', () => {
    const policies = objects().filter(({ kind }) => kind === 'NetworkPolicy');
    const reached = policies
      .filter(({ metadata }) => metadata.name.endsWith('-db-clients'))
      .flatMap(({ spec }) => {
        const { matchLabels, matchExpressions } = spec.podSelector;
        const clients = matchLabels ? [matchLabels['app.kubernetes.io/name']] : matchExpressions[0].values;
        const cluster = spec.egress[0].to[0].podSelector.matchLabels['cnpg.io/cluster'];
        return clients.map((/** @type {string} */ client) => [client.split('-')[0], cluster]);
      });
    assert.equal(reached.length, 11);
    for (const [client, cluster] of reached) assert.equal(cluster, `${client}-db`);
  });

  it('mounts the authority of its database in each pod and Job with the address of one', () => {
    const workloads = objects().filter(({ kind }) => ['Deployment', 'Job'].includes(kind));
    const mounted = workloads.flatMap(({ metadata, spec: { template } }) => {
      const [{ env = [], volumeMounts = [] }] = template.spec.containers;
      const hasAddress = env.some((/** @type {any} */ { name }) => name.startsWith('DATABASE_URL_'));
      const mount = volumeMounts.find((/** @type {any} */ { mountPath }) => mountPath === DATABASE_CA);
      if (!hasAddress && !mount) return [];
      const { secret } = template.spec.volumes.find((/** @type {any} */ { name }) => name === mount?.name) ?? {};
      return [`${metadata.name.replace(/-\d+-\d+-\d+$/, '')} ${secret?.secretName}`];
    });
    const services = ['admin', 'collaboration', 'identity', 'import', 'package'];
    const wanted = services.flatMap((name) => [`${name} ${name}-db-ca`, `${name}-migrate ${name}-db-ca`]);
    assert.deepEqual(mounted.sort(), [...wanted, 'identity-bootstrap identity-db-ca'].sort());
  });

  for (const [kind, name, change, problem] of FAULTS)
    it(`is refused when ${kind} ${name}: ${problem.source}`, () => {
      const all = objects();
      const object = all.find((one) => one.kind === kind && one.metadata.name === name);
      assert.ok(object, `there is no ${kind} ${name}`);
      change(object.spec, object);
      const found = serverManifestProblems(all);
      assert.ok(
        found.some((text) => problem.test(text)),
        `not caught: ${found.join('; ')}`,
      );
    });
});

describe('the addresses in the README of the overlay with servers', () => {
  const readme = readFileSync(`${overlay}/README.md`, 'utf8');
  /** @param {string} key */
  const addressOf = (key) => new RegExp(`\\| \`${key}\` \\| \`([^\`]+)\` \\|`).exec(readme)?.[1] ?? assert.fail(key);

  it('let the driver verify a database by the mounted authority, and its name', () => {
    const address = addressOf('database-url');
    assert.ok(address.includes(`sslrootcert=${DATABASE_CA}/ca.crt`));
    const folder = mkdtempSync(join(tmpdir(), 'rookery-ca-'));
    try {
      writeFileSync(join(folder, 'ca.crt'), 'the authority');
      const parameters = parametersOf(address.replace(DATABASE_CA, folder));
      // The driver treats `require` in the same way, until its next major version.
      assert.deepEqual([parameters.host, parameters.sslmode], ['identity-db-rw', 'verify-full']);
      // Neither `rejectUnauthorized: false` nor a check of names that accepts all.
      assert.deepEqual(parameters.ssl, { ca: 'the authority' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('ask for TLS to the bus, under a name of its certificate', () => {
    const { protocol, hostname } = new URL(addressOf('bus-url').replace('<password>', 'p'));
    assert.deepEqual([protocol, hostname], ['tls:', 'nats']);
  });
});

/**
 * Faults of the values for the chart of NATS.
 * @type {[change: (values: any) => void, problem: RegExp][]}
 */
const BUS_FAULTS = [
  [(values) => (values.config.cluster.replicas = 1), /another number of servers/],
  [(values) => delete values.config.jetstream.merge, /not on disk/],
  [(values) => (values.config.jetstream.fileStore.pvc.enabled = false), /no volume/],
  [(values) => (values.config.jetstream.fileStore.maxSize = '20Gi'), /to the brim/],
  [(values) => (values.container.image.tag = 'latest'), /is not nats:2/],
  [(values) => delete values.container.env.NATS_PASSWORD_PACKAGE, /lacks the password/],
  [(values) => (values.config.merge.$include = '../nats/users.conf'), /does not read users.conf/],
  [(values) => (values.podTemplate.patch[0].value.name = 'other'), /mounts no users.conf/],
  [(values) => delete values.container.merge.resources, /no limit of memory/],
  [(values) => (values.podTemplate.merge.spec.securityContext.runAsUser = 0), /runs as root/],
  [(values) => (values.reloader.merge = {}), /container with privileges/],
  [(values) => (values.promExporter.enabled = false), /reports no metrics/],
  [(values) => delete values.config.nats, /clients without TLS/],
  [(values) => (values.config.merge.allow_non_tls = true), /clients without TLS/],
  [(values) => (values.config.cluster.tls.enabled = false), /any server into its cluster/],
  [(values) => delete values.config.cluster.tls.merge, /any server into its cluster/],
  [(values) => (values.tlsCA.secretName = 'nats-ca'), /another authority, or its key/],
  [(values) => (values.extraResources[1].spec.isCA = false), /without an authority/],
  [(values) => values.extraResources.splice(2, 1), /without an authority/],
  [(values) => values.extraResources.pop(), /other names or uses/],
  [(values) => values.extraResources[3].spec.dnsNames.pop(), /other names or uses/],
  [(values) => values.extraResources[3].spec.usages.pop(), /other names or uses/],
  [(values) => (values.reloader.patch = values.container.patch), /twice in its reloader/],
  [(values) => delete values.podTemplate.topologySpreadConstraints['kubernetes.io/hostname'], /may share a node/],
];

describe('the values of NATS', () => {
  const text = readFileSync(`${deploy}/components/nats-chart/values.yaml`, 'utf8');
  const estate = { replicas: '3', image: 'nats:2.12.2-alpine', accounts: ['NATS_PASSWORD_PACKAGE'] };

  it('keep all rules', () => assert.deepEqual(busProblems(parse(text), estate), []));

  for (const [change, problem] of BUS_FAULTS)
    it(`are refused when NATS ${problem.source}`, () => {
      const values = parse(text);
      change(values);
      assert.match(busProblems(values, estate).join('; '), problem);
    });
});
