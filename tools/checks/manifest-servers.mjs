/**
 * Rules for the servers of a production cluster: databases lose no acknowledged write and are archived, the bus has three
 * copies on disk, clients verify both, a bucket is reached, each Deployment has one autoscaler within the budget of
 * connections, and alerts find the metrics of each process.
 * Source: docs/operations.md 6.
 *
 * @typedef {import('./manifest-policies.mjs').Manifest} Manifest
 * @typedef {import('./manifest-policies.mjs').Rule} Rule
 */
import { CONNECTIONS, neededDatabaseConnections } from './manifest-policies.mjs';

const ARCHIVER = 'barman-cloud.cloudnative-pg.io';
/** Largest part of a volume that streams may use. A formatted volume is smaller than its claim. */
const USABLE = 0.8;

/** @param {Manifest[]} objects @param {string} kind */
const objectsOfKind = (objects, kind) => objects.filter((one) => one.kind === kind);
/** @param {string} quantity */
const parseGibibytes = (quantity) => Number(/^(\d+)Gi$/.exec(quantity)?.[1]);

/** @type {Rule} */
function checkDatabaseDurability(objects, complain) {
  for (const cluster of objectsOfKind(objects, 'Cluster')) {
    const {
      instances,
      imageName = '',
      postgresql = {},
      affinity = {},
      walStorage,
      resources,
      bootstrap,
    } = cluster.spec;
    const { synchronous, parameters = {} } = postgresql;
    if (instances < 3) complain(cluster, 'has fewer than three instances');
    if (!(synchronous?.number >= 1) || synchronous.dataDurability !== 'required')
      complain(cluster, 'acknowledges commits that one machine has');
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit'])
      if (['off', 'local', 'false'].includes(parameters[name])) complain(cluster, `loses commits: ${name} is off`);
    if (!/:\d+\.\d+[\w.-]*$/.test(imageName)) complain(cluster, 'has an image without a fixed tag');
    if (affinity.podAntiAffinityType !== 'required') complain(cluster, 'may have two instances on one node');
    if (!walStorage) complain(cluster, 'has its log on the volume of its tables');
    if (!resources?.limits?.memory) complain(cluster, 'has no limit of memory');
    if (bootstrap?.initdb?.dataChecksums !== true) complain(cluster, 'does not notice damaged pages');
    if (parameters.max_connections !== String(CONNECTIONS))
      complain(cluster, `permits another number of connections than ${CONNECTIONS}`);
  }
}

/** @type {Rule} */
function checkDatabaseArchiving(objects, complain) {
  const stores = objectsOfKind(objects, 'ObjectStore');
  for (const cluster of objectsOfKind(objects, 'Cluster')) {
    const archiver = cluster.spec.plugins?.find((/** @type {any} */ one) => one.name === ARCHIVER && one.isWALArchiver);
    if (!stores.some(({ metadata }) => metadata.name === archiver?.parameters?.barmanObjectName))
      complain(cluster, 'does not archive its log');
    const schedules = objectsOfKind(objects, 'ScheduledBackup').filter(
      ({ spec }) => spec.cluster.name === cluster.metadata.name,
    );
    if (schedules.length !== 1) complain(cluster, `has ${schedules.length} schedules of backups`);
  }
  for (const schedule of objectsOfKind(objects, 'ScheduledBackup')) {
    const { method, pluginConfiguration: plugin, schedule: times } = schedule.spec;
    if (method !== 'plugin' || plugin?.name !== ARCHIVER) complain(schedule, 'does not back up into the archive');
    if (times.split(' ').length !== 6) complain(schedule, 'has a schedule without seconds');
  }
  for (const store of stores)
    if (!/^[1-9]\d*[dwm]$/.test(store.spec.retentionPolicy ?? '')) complain(store, 'never deletes a backup');
}

/** @type {Rule} */
function checkLagAutoscalers(objects, complain) {
  for (const scaler of objectsOfKind(objects, 'ScaledObject')) {
    const { scaleTargetRef: target, minReplicaCount, maxReplicaCount, triggers } = scaler.spec;
    const deployment = objectsOfKind(objects, 'Deployment').find(({ metadata }) => metadata.name === target.name);
    if (!deployment) complain(scaler, `scales the unknown Deployment ${target.name}`);
    else if (deployment.spec.replicas !== minReplicaCount)
      complain(scaler, 'and its Deployment differ in the smallest number');
    if (objectsOfKind(objects, 'HorizontalPodAutoscaler').some(({ spec }) => spec.scaleTargetRef.name === target.name))
      complain(scaler, 'is the second autoscaler of its Deployment');
    const needed = neededDatabaseConnections(maxReplicaCount);
    if (needed > CONNECTIONS) complain(scaler, `needs ${needed} connections of ${CONNECTIONS}`);
    const lag = triggers.find((/** @type {any} */ { type }) => type === 'prometheus')?.metadata;
    if (!lag?.query.includes(`rookery_consumer_pending{job="rookery",process="${target.name}"}`))
      complain(scaler, 'looks at the lag of another service');
    if (lag?.ignoreNullValues !== 'false') complain(scaler, 'removes replicas while Prometheus is away');
  }
}

/** Folder at which pods mount the authority of their database; addresses of databases name it. */
export const DATABASE_CA = '/etc/rookery/database-ca';
/** Secret with the certificate of the bus, its key, and the certificate of its authority. */
const BUS_SECRET = 'nats-tls';
/** Whether the bus listens with its certificate. @param {any} listener */
const isBusListenerSecured = ({ tls }) => tls?.enabled === true && tls.secretName === BUS_SECRET;

/**
 * The secret of which a container mounts nothing but the certificate of the authority, at a folder.
 * @param {any} pod @param {any} container @param {string} folder
 * @returns {string | undefined}
 */
function authoritySecretMountedAt({ volumes = [] }, { volumeMounts = [] }, folder) {
  const mount = volumeMounts.find((/** @type {any} */ one) => one.mountPath === folder);
  const { secret } = volumes.find((/** @type {any} */ one) => one.name === mount?.name) ?? {};
  const keys = secret?.items?.map((/** @type {any} */ one) => [one.key, one.path].join());
  return keys?.join() === 'ca.crt,ca.crt' ? secret.secretName : undefined;
}

/**
 * Addresses of databases and the bus are secrets, so their certificates are checked by the mounts. An estate with servers
 * elsewhere has neither clusters nor the policy of the chart.
 * @type {Rule}
 */
function checkServerCertificatesMounted(objects, complain) {
  const clusters = objectsOfKind(objects, 'Cluster').map(({ metadata }) => metadata.name);
  const hasBus = objectsOfKind(objects, 'NetworkPolicy').some(({ metadata }) => metadata.name === 'nats-chart');
  for (const workload of [...objectsOfKind(objects, 'Deployment'), ...objectsOfKind(objects, 'Job')]) {
    const pod = workload.spec.template.spec;
    for (const container of pod.containers)
      for (const { name } of container.env ?? []) {
        const service = /^DATABASE_URL_([A-Z]+)_FILE$/.exec(name)?.[1]?.toLowerCase();
        if (service && clusters.length > 0) {
          const secret = authoritySecretMountedAt(pod, container, DATABASE_CA);
          if (!clusters.includes(`${service}-db`) || secret !== `${service}-db-ca`)
            complain(workload, 'cannot verify its database');
        }
        if (name === 'NATS_URL_FILE' && hasBus) {
          const file = container.env.find((/** @type {any} */ one) => one.name === 'NATS_CA_FILE')?.value ?? '';
          const folder = file.slice(0, -'/ca.crt'.length);
          if (`${folder}/ca.crt` !== file || authoritySecretMountedAt(pod, container, folder) !== BUS_SECRET)
            complain(workload, 'cannot verify the bus');
        }
      }
  }
}

/**
 * Files of packages in a bucket: the service mounts the keys that its variables name, may leave the cluster, and has no
 * claim; the Job names the same place.
 * @type {Rule}
 */
function checkPackageBucketAccess(objects, complain) {
  /** @param {Manifest} workload @param {string} name */
  const variable = (workload, name) =>
    workload.spec.template.spec.containers[0].env?.find((/** @type {any} */ one) => one.name === name)?.value;
  const service = objectsOfKind(objects, 'Deployment').find(({ metadata }) => metadata.name === 'package');
  const place = service && variable(service, 'BLOBS_URL');
  if (!service || !place?.startsWith('s3://')) return;
  const { containers, volumes = [] } = service.spec.template.spec;
  const folders = containers[0].volumeMounts
    .filter((/** @type {any} */ mount) =>
      volumes.some((/** @type {any} */ one) => one.name === mount.name && one.secret),
    )
    .map((/** @type {any} */ { mountPath }) => mountPath);
  for (const name of ['AWS_ACCESS_KEY_ID_FILE', 'AWS_SECRET_ACCESS_KEY_FILE']) {
    const file = variable(service, name) ?? '';
    if (!folders.includes(file.slice(0, file.lastIndexOf('/'))))
      complain(service, `does not mount the file of ${name}`);
  }
  for (const job of objectsOfKind(objects, 'Job'))
    if ((variable(job, 'BLOBS_URL') ?? place) !== place) complain(job, 'names another place of files than its service');
  for (const claim of objectsOfKind(objects, 'PersistentVolumeClaim'))
    if (claim.metadata.name === 'package-blobs') complain(claim, 'is unused: the files are in a bucket');
  const mayLeave = objectsOfKind(objects, 'NetworkPolicy').some(
    ({ spec }) =>
      spec.podSelector.matchLabels?.['app.kubernetes.io/name'] === 'package' &&
      spec.egress?.some(
        (/** @type {any} */ { to, ports }) => !to && ports.some((/** @type {any} */ { port }) => port === 443),
      ),
  );
  if (!mayLeave) complain(service, 'may not reach its bucket');
}

/** Label of a pod from which the name of its process is taken. */
const NAME_LABEL = '__meta_kubernetes_pod_label_app_kubernetes_io_name';

/**
 * Alerts and autoscalers find the metrics of each process: a monitor selects its pods at the port of their metrics, with the
 * job and the label `process` of deploy/observability.
 * @type {Rule}
 */
function checkProcessMetricsScraped(objects, complain) {
  if (objectsOfKind(objects, 'PrometheusRule').length === 0) return;
  const monitors = objectsOfKind(objects, 'PodMonitor');
  for (const deployment of objectsOfKind(objects, 'Deployment')) {
    const { metadata, spec } = deployment.spec.template;
    const port = spec.containers[0].ports?.find((/** @type {any} */ one) => one.name === 'management');
    if (!port) continue;
    const endpoint = monitors
      .filter(({ spec: { selector } }) =>
        // Monitors of servers select by expressions.
        Object.entries(selector.matchLabels ?? { none: '' }).every(([name, value]) => metadata.labels[name] === value),
      )
      .flatMap((monitor) => monitor.spec.podMetricsEndpoints)
      .find((one) => one.port === port.name && one.path === '/-/metrics');
    /** @param {string} label */
    const relabelingOf = (label) =>
      endpoint?.relabelings?.find((/** @type {any} */ one) => one.targetLabel === label) ?? {};
    if (!endpoint) complain(deployment, 'is not scraped');
    else if (
      relabelingOf('job').replacement !== 'rookery' ||
      relabelingOf('process').sourceLabels?.join() !== NAME_LABEL
    )
      complain(deployment, 'has metrics that alerts do not find');
  }
}

const RULES = [
  ...[
    checkDatabaseDurability,
    checkDatabaseArchiving,
    checkServerCertificatesMounted,
    checkLagAutoscalers,
    checkPackageBucketAccess,
  ],
  checkProcessMetricsScraped,
];

/**
 * Problems of rendered databases, archives, autoscalers and monitors, one sentence each.
 * @param {Manifest[]} objects
 * @returns {string[]}
 */
export function serverManifestProblems(objects) {
  /** @type {string[]} */
  const problems = [];
  for (const rule of RULES)
    rule(objects, (object, text) => void problems.push(`${object.kind} ${object.metadata.name} ${text}`));
  return problems;
}

/**
 * Problems of the values for the chart of NATS, one sentence each.
 * @param {Manifest} values
 * @param {{ replicas: string | undefined, image: string, accounts: string[] }} estate `NATS_STREAM_REPLICAS_COUNT` of the
 *   services, the image of deploy/base/nats, and the variables that users.conf reads.
 * @returns {string[]}
 */
export function busProblems(values, { replicas, image, accounts }) {
  const { nats = {}, cluster, jetstream, merge } = values.config;
  const certificates = (values.extraResources ?? []).filter((/** @type {any} */ { kind }) => kind === 'Certificate');
  const certificate = certificates.find((/** @type {any} */ { spec }) => spec.secretName === BUS_SECRET)?.spec;
  const issuer = values.extraResources?.find(
    (/** @type {any} */ { kind, metadata }) => kind === 'Issuer' && metadata.name === certificate?.issuerRef.name,
  );
  const authority = certificates.find((/** @type {any} */ { spec }) => spec.secretName === issuer?.spec.ca?.secretName);
  const { fileStore, merge: extra } = jetstream;
  const containers = ['container', 'reloader', 'promExporter'].map((name) => values[name]);
  const pod = values.podTemplate.merge.spec.securityContext;
  const mounted = values.container.patch.find((/** @type {any} */ { path }) => path === '/volumeMounts/-')?.value;
  const volume = values.podTemplate.patch.find((/** @type {any} */ { path }) => path === '/spec/volumes/-')?.value;
  /** @type {[boolean, string][]} */
  const rules = [
    [
      cluster.enabled && String(cluster.replicas) === replicas,
      'has another number of servers than streams have copies',
    ],
    [extra?.sync_interval === 'always', 'acknowledges events that are not on disk'],
    [fileStore.enabled && fileStore.pvc.enabled, 'has no volume for its streams'],
    [parseGibibytes(fileStore.maxSize) <= USABLE * parseGibibytes(fileStore.pvc.size), 'fills its volume to the brim'],
    [`${values.container.image.repository}:${values.container.image.tag}` === image, `is not ${image}`],
    [accounts.every((name) => values.container.env[name]), 'lacks the password of an account'],
    [merge.$include === `..${mounted?.mountPath.slice('/etc'.length)}/users.conf`, 'does not read users.conf'],
    [mounted?.name === volume?.name && volume?.configMap.name === 'nats-users', 'mounts no users.conf'],
    [Boolean(values.container.merge.resources?.limits?.memory), 'has no limit of memory'],
    [pod.runAsNonRoot === true && pod.runAsUser > 0 && pod.seccompProfile?.type === 'RuntimeDefault', 'runs as root'],
    [
      containers.every((one) => {
        const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = one.merge.securityContext ?? {};
        return allowPrivilegeEscalation === false && readOnlyRootFilesystem && capabilities?.drop.includes('ALL');
      }),
      'has a container with privileges',
    ],
    [isBusListenerSecured(nats) && !merge.allow_non_tls, 'takes clients without TLS'],
    [isBusListenerSecured(cluster) && cluster.tls.merge?.verify === true, 'takes any server into its cluster'],
    [values.tlsCA?.enabled === true && values.tlsCA.secretName === BUS_SECRET, 'mounts another authority, or its key'],
    [authority?.spec.isCA === true, 'has a certificate without an authority'],
    [
      ['nats', '*.nats-headless'].every((name) => certificate?.dnsNames.includes(name)) &&
        ['server auth', 'client auth'].every((use) => certificate?.usages.includes(use)),
      'has a certificate for other names or uses',
    ],
    // The chart mounts all folders below /etc there; a second mount at one path is refused.
    [!values.reloader.patch, 'mounts a folder twice in its reloader'],
    [values.promExporter.enabled === true, 'reports no metrics'],
    [Boolean(values.podTemplate.topologySpreadConstraints['kubernetes.io/hostname']), 'may share a node'],
  ];
  return rules.filter(([isKept]) => !isKept).map(([, text]) => `NATS ${text}`);
}
