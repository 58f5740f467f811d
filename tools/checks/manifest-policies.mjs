/**
 * Rules for the rendered manifests of a production cluster: Pod Security `restricted`, resources, probes, availability,
 * references, settings that must fit together, and network policies. Source: docs/operations.md 6.
 *
 * @typedef {Record<string, any>} Manifest
 * @typedef {(objects: Manifest[], complain: (object: Manifest, text: string) => void) => void} Rule
 */

/** Connections of a database server, as `npm start` and deploy/base/postgres set it. The figures are from docs/scaling.md. */
export const CONNECTIONS = 300;
/** Connections that one process needs, with those of its job queue; and those of a migration. The figures are from docs/scaling.md. */
const CONNECTIONS_EACH = 25;
const CONNECTIONS_MIGRATION = 3;
/**
 * Connections of a service with this many replicas, one more process while its Deployment is updated, and a migration.
 * @param {number} replicas
 */
export const neededDatabaseConnections = (replicas) => (replicas + 1) * CONNECTIONS_EACH + CONNECTIONS_MIGRATION;
/** Readiness waits for databases. Units: seconds. */
const READINESS_SECONDS = 3;
/** Secrets that the operator of the cluster makes, and `nats-tls`, which cert-manager makes. */
const SECRETS =
  /^(?:(?:gateway|identity|collaboration|import|package|admin)-secrets|root-token|rookery-tls|nats-tls|package-bucket)$/;
/** Secrets with the address of the role that owns the tables of a service. */
const OWNERS = /^(?:identity|collaboration|import|package|admin)-owner$/;
const WORKLOADS = ['Deployment', 'StatefulSet', 'Job'];

/** @param {Manifest[]} objects @param {...string} kinds */
const objectsOfKind = (objects, ...kinds) => objects.filter(({ kind }) => kinds.includes(kind));
/** @param {Manifest} workload */
const podSpecOf = (workload) => workload.spec.template.spec;
/** @param {Manifest} workload */
const podLabelsOf = (workload) => workload.spec.template.metadata?.labels ?? {};
/** @param {Manifest} selector @param {Record<string, string>} labels */
function matchesSelector({ matchLabels = {}, matchExpressions = [] }, labels) {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((/** @type {any} */ { key, values }) => values.includes(labels[key]))
  );
}
/** @param {Manifest[]} objects @param {string} kind @param {string} name */
const hasObject = (objects, kind, name) => objects.some((one) => one.kind === kind && one.metadata.name === name);
/** @param {Manifest} workload @param {string} name */
const environmentValueOf = (workload, name) =>
  podSpecOf(workload)
    .containers.flatMap((/** @type {any} */ { env = [] }) => env)
    .find((/** @type {any} */ one) => one.name === name)?.value;

/** @type {Rule} */
function checkPodSecurityContexts(objects, complain) {
  for (const workload of objectsOfKind(objects, ...WORKLOADS)) {
    const pod = podSpecOf(workload);
    const context = pod.securityContext ?? {};
    if (context.runAsNonRoot !== true || !Number.isInteger(context.runAsUser) || context.runAsUser === 0)
      complain(workload, 'runs as root, or without a numeric user');
    if (context.seccompProfile?.type !== 'RuntimeDefault') complain(workload, 'has no seccomp profile');
    if (pod.automountServiceAccountToken !== false) complain(workload, 'mounts the token of a service account');
    if (pod.hostNetwork || pod.hostPID || pod.hostIPC) complain(workload, 'shares a namespace of its node');
    if (pod.volumes?.some((/** @type {any} */ volume) => volume.hostPath))
      complain(workload, 'mounts a path of its node');
    for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
      const own = container.securityContext ?? {};
      if (own.allowPrivilegeEscalation !== false) complain(workload, 'permits privilege escalation');
      if (own.privileged) complain(workload, 'is privileged');
      if (own.readOnlyRootFilesystem !== true) complain(workload, 'can write to its root');
      if (!own.capabilities?.drop?.includes('ALL') || own.capabilities.add) complain(workload, 'keeps capabilities');
    }
  }
}

/** @type {Rule} */
function checkContainerImagesAndResources(objects, complain) {
  for (const workload of objectsOfKind(objects, ...WORKLOADS))
    for (const { image, resources = {}, env = [] } of podSpecOf(workload).containers) {
      if (!/(?:@sha256:[0-9a-f]{64}|:[\w][\w.-]*)$/.test(image) || image.endsWith(':latest'))
        complain(workload, `has an image without a fixed tag: ${image}`);
      if (!resources.requests?.cpu || !resources.requests?.memory) complain(workload, 'requests no CPU or memory');
      if (!resources.limits?.memory) complain(workload, 'has no limit of memory');
      for (const { name, value } of env)
        if (/(?:KEYS?|SECRET|PASSWORD|TOKEN|DATABASE_URL_[A-Z]+(?<!_FILE)|NATS_URL)$/.test(name) && value)
          complain(workload, `has a secret in the variable ${name}`);
    }
}

/** @type {Rule} */
function checkTemporaryVolumeSizes(objects, complain) {
  for (const workload of objectsOfKind(objects, ...WORKLOADS)) {
    const { containers, volumes = [] } = podSpecOf(workload);
    const limit = parseGibibytes(containers[0].resources?.limits?.['ephemeral-storage']);
    for (const { name, emptyDir } of volumes)
      if (emptyDir && limit !== null && !((parseGibibytes(emptyDir.sizeLimit) ?? 0) < limit))
        complain(workload, `is evicted before its volume ${name} is full`);
  }
}

/** @param {string | undefined} quantity */
function parseGibibytes(quantity) {
  const [, count] = /^(\d+)Gi$/.exec(quantity ?? '') ?? [];
  return count === undefined ? null : Number(count);
}

/** @type {Rule} */
function checkDeploymentAvailability(objects, complain) {
  for (const workload of objectsOfKind(objects, 'Deployment')) {
    const pod = podSpecOf(workload);
    const [{ ports = [], startupProbe, livenessProbe, readinessProbe }] = pod.containers;
    const probes = [startupProbe, livenessProbe, readinessProbe];
    if (!probes.every((probe) => probe?.httpGet)) complain(workload, 'lacks a probe');
    else {
      if (livenessProbe.httpGet.path === readinessProbe.httpGet.path)
        complain(workload, 'is restarted when a dependency is away: liveness is readiness');
      if ((readinessProbe.timeoutSeconds ?? 1) < READINESS_SECONDS)
        complain(workload, 'has an impatient readiness probe');
      for (const { httpGet } of probes)
        if (!ports.some((/** @type {any} */ port) => port.name === httpGet.port))
          complain(workload, `probes the unknown port ${httpGet.port}`);
    }
    if (!((workload.spec.replicas ?? 1) >= 2)) complain(workload, 'has one replica');
    if (workload.spec.strategy?.rollingUpdate?.maxUnavailable !== 0) complain(workload, 'loses replicas in an update');
    const keys = (pod.topologySpreadConstraints ?? []).map((/** @type {any} */ one) => one.topologyKey);
    for (const key of ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'])
      if (!keys.includes(key)) complain(workload, `is not spread over ${key}`);
    const budgets = objectsOfKind(objects, 'PodDisruptionBudget').filter(({ spec }) =>
      matchesSelector(spec.selector, podLabelsOf(workload)),
    );
    if (budgets.length !== 1) complain(workload, `has ${budgets.length} disruption budgets`);
    if (!((pod.terminationGracePeriodSeconds ?? 30) >= 60)) complain(workload, 'is killed before its requests end');
    if (!pod.priorityClassName || !hasObject(objects, 'PriorityClass', pod.priorityClassName))
      complain(workload, 'has no priority class');
  }
}

/** @type {Rule} */
function checkJobNamesAndLimits(objects, complain) {
  for (const job of objectsOfKind(objects, 'Job')) {
    const { backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished } = job.spec;
    if (!/-\d+-\d+-\d+$/.test(job.metadata.name)) complain(job, 'has no release in its name');
    if ([backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished].includes(undefined))
      complain(job, 'has no limit of tries and time');
    const hashed = podSpecOf(job).containers.some((/** @type {any} */ { envFrom = [] }) =>
      envFrom.some((/** @type {any} */ { configMapRef }) => /-[a-z0-9]{10}$/.test(configMapRef?.name ?? '')),
    );
    if (hashed) complain(job, 'changes with the settings, which a Job cannot');
  }
}

/** @type {Rule} */
function checkWorkloadReferences(objects, complain) {
  for (const workload of objectsOfKind(objects, ...WORKLOADS)) {
    if (workload.spec.selector && !matchesSelector(workload.spec.selector, podLabelsOf(workload)))
      complain(workload, 'does not select its own pods');
    const { containers, volumes = [] } = podSpecOf(workload);
    for (const { envFrom = [], volumeMounts = [] } of containers) {
      for (const { configMapRef } of envFrom)
        if (configMapRef && !hasObject(objects, 'ConfigMap', configMapRef.name))
          complain(workload, `reads the unknown ConfigMap ${configMapRef.name}`);
      for (const { name } of volumeMounts)
        if (!volumes.some((/** @type {any} */ volume) => volume.name === name))
          complain(workload, `mounts the unknown volume ${name}`);
    }
    for (const { secret, persistentVolumeClaim: claim } of volumes) {
      // CloudNativePG makes the secret `<cluster>-ca`.
      const cluster = /^(.+)-ca$/.exec(secret?.secretName)?.[1] ?? '';
      if (
        secret &&
        !SECRETS.test(secret.secretName) &&
        !OWNERS.test(secret.secretName) &&
        !hasObject(objects, 'Cluster', cluster)
      )
        complain(workload, `mounts the unknown secret ${secret.secretName}`);
      if (claim && !hasObject(objects, 'PersistentVolumeClaim', claim.claimName))
        complain(workload, `mounts the unknown claim ${claim.claimName}`);
    }
  }
  for (const secret of objectsOfKind(objects, 'Secret')) complain(secret, 'is a literal secret');
}

/**
 * The owner of tables migrates, and does nothing else: its address is mounted only by Jobs that migrate, which grant the role
 * of the service its rights. Source: ADR 0211.
 * @type {Rule}
 */
function checkOwnerSecretsOnlyInMigrations(objects, complain) {
  for (const workload of objectsOfKind(objects, ...WORKLOADS)) {
    const [{ args = [], env = [], volumeMounts = [] }] = podSpecOf(workload).containers;
    const owner = secretNamesIn(podSpecOf(workload)).find((name) => OWNERS.test(name));
    if (workload.kind !== 'Job' || args[0] !== 'migrate') {
      if (owner) complain(workload, `has the address of the owner of tables: ${owner}`);
      continue;
    }
    const { name, value = '' } = env.find((/** @type {any} */ one) => one.name.startsWith('DATABASE_URL_')) ?? {};
    const service = /^DATABASE_URL_([A-Z]+)_FILE$/.exec(name)?.[1]?.toLowerCase();
    const volume = podSpecOf(workload).volumes?.find((/** @type {any} */ { secret }) => secret?.secretName === owner);
    const folder = volumeMounts.find((/** @type {any} */ mount) => mount.name === volume?.name)?.mountPath;
    if (owner !== `${service}-owner` || value !== `${folder}/database-url`)
      complain(workload, 'does not migrate as the owner of tables');
    if (environmentValueOf(workload, 'DATABASE_SERVICE_ROLE') !== service)
      complain(workload, 'grants its service no rights');
  }
}

/**
 * Names of all secrets that a pod mounts or reads, in any way.
 * @param {unknown} part
 * @returns {string[]}
 */
function secretNamesIn(part) {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => {
    if (key === 'secretName') return [value];
    const isReference = ['secret', 'secretRef', 'secretKeyRef'].includes(key);
    return isReference && value?.name ? [value.name] : secretNamesIn(value);
  });
}

/** @type {Rule} */
function checkServicesSelectPods(objects, complain) {
  for (const service of objectsOfKind(objects, 'Service')) {
    const { selector = {}, ports = [] } = service.spec;
    const targets = objectsOfKind(objects, 'Deployment').filter((one) =>
      matchesSelector({ matchLabels: selector }, podLabelsOf(one)),
    );
    if (targets.length === 0) complain(service, 'selects no pods');
    for (const { name, targetPort } of ports)
      if (
        !targets.every((one) =>
          podSpecOf(one).containers[0].ports.some((/** @type {any} */ port) => port.name === targetPort),
        )
      )
        complain(service, `leads to the unknown port ${targetPort} (${name})`);
    if (service.metadata.name === 'gateway' && ports.length !== 1) complain(service, 'publishes more than the API');
  }
  for (const ingress of objectsOfKind(objects, 'Ingress')) {
    const hosts = (ingress.spec.tls ?? []).flatMap((/** @type {any} */ one) => one.hosts);
    for (const { host, http } of ingress.spec.rules) {
      if (!hosts.includes(host)) complain(ingress, `serves ${host} without TLS`);
      for (const { backend } of http.paths) {
        const found = objectsOfKind(objects, 'Service').find(({ metadata }) => metadata.name === backend.service.name);
        if (!found?.spec.ports.some((/** @type {any} */ port) => port.name === backend.service.port.name))
          complain(ingress, 'leads to no service');
      }
    }
  }
}

/** @type {Rule} */
function checkHorizontalAutoscalers(objects, complain) {
  const scalers = objectsOfKind(objects, 'HorizontalPodAutoscaler');
  for (const scaler of scalers) {
    const { scaleTargetRef: target, minReplicas, maxReplicas } = scaler.spec;
    const deployment = objectsOfKind(objects, 'Deployment').find(({ metadata }) => metadata.name === target.name);
    if (!deployment) complain(scaler, `scales the unknown Deployment ${target.name}`);
    else if (deployment.spec.replicas !== minReplicas)
      complain(scaler, 'and its Deployment differ in the smallest number');
    const needed = neededDatabaseConnections(maxReplicas);
    if (target.name !== 'gateway' && needed > CONNECTIONS)
      complain(scaler, `needs ${needed} connections of ${CONNECTIONS}`);
  }
  const gateway = objectsOfKind(objects, 'Deployment').find(({ metadata }) => metadata.name === 'gateway');
  if (!gateway) return;
  if (environmentValueOf(gateway, 'GATEWAY_REPLICAS_COUNT') !== String(gateway.spec.replicas))
    complain(gateway, 'divides rates by another number than that of its replicas');
  if (
    hasObject(objects, 'Ingress', 'gateway') &&
    !(Number(environmentValueOf(gateway, 'GATEWAY_TRUSTED_PROXIES_COUNT')) >= 1)
  )
    complain(gateway, 'takes the Ingress for its only client');
}

/** @type {Rule} */
function checkNamespaceIsolation(objects, complain) {
  for (const namespace of objectsOfKind(objects, 'Namespace'))
    if (namespace.metadata.labels?.['pod-security.kubernetes.io/enforce'] !== 'restricted')
      complain(namespace, 'does not enforce restricted pods');
  const policies = objectsOfKind(objects, 'NetworkPolicy');
  for (const workload of objectsOfKind(objects, ...WORKLOADS)) {
    const types = policies
      .filter(({ spec }) => matchesSelector(spec.podSelector, podLabelsOf(workload)))
      .flatMap(({ spec }) => spec.policyTypes);
    if (!types.includes('Egress')) complain(workload, 'may connect anywhere');
    const isOpen = workload.kind === 'Job' || workload.metadata.name === 'gateway';
    if (!isOpen && !types.includes('Ingress')) complain(workload, 'takes connections from anywhere');
  }
}

const RULES = [
  checkPodSecurityContexts,
  checkContainerImagesAndResources,
  checkTemporaryVolumeSizes,
  checkDeploymentAvailability,
  checkJobNamesAndLimits,
  checkWorkloadReferences,
  checkOwnerSecretsOnlyInMigrations,
  checkServicesSelectPods,
  checkHorizontalAutoscalers,
  checkNamespaceIsolation,
];

/**
 * Problems of rendered manifests, one sentence each.
 * @param {Manifest[]} objects
 * @returns {string[]}
 */
export function manifestProblems(objects) {
  /** @type {string[]} */
  const problems = [];
  for (const rule of RULES)
    rule(objects, (object, text) => void problems.push(`${object.kind} ${object.metadata.name} ${text}`));
  return problems;
}
