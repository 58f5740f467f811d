/** The rules for rendered manifests: the production overlay keeps them, and each seeded fault is caught. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { canRender, renderOverlay } from '../kustomize.mjs';
import { manifestProblems } from '../manifest-policies.mjs';

const overlay = fileURLToPath(new URL('../../../deploy/overlays/production', import.meta.url));
/**
 * Faults, each in one object: kind, name, change, and the problem that must be found.
 * @type {[kind: string, name: string, change: (object: any, pod: any, container: any) => void, problem: RegExp][]}
 */
const FAULTS = [
  ['Deployment', 'gateway', (_, pod) => (pod.securityContext.runAsUser = 0), /runs as root/],
  ['Deployment', 'package', (_, pod) => delete pod.securityContext.seccompProfile, /no seccomp profile/],
  ['Job', 'admin-migrate-0-1-0', (_, pod) => delete pod.automountServiceAccountToken, /token of a service account/],
  ['Deployment', 'import', (_, pod) => (pod.hostNetwork = true), /shares a namespace of its node/],
  ['Deployment', 'import', (_, pod) => pod.volumes.push({ name: 'x', hostPath: { path: '/' } }), /path of its node/],
  ['Job', 'import-migrate-0-1-0', (_, __, one) => delete one.securityContext, /permits privilege escalation/],
  ['Deployment', 'admin', (_, __, one) => (one.securityContext.readOnlyRootFilesystem = false), /write to its root/],
  ['Deployment', 'admin', (_, __, one) => (one.securityContext.privileged = true), /is privileged/],
  ['Deployment', 'admin', (_, __, one) => (one.securityContext.capabilities.add = ['NET_RAW']), /keeps capabilities/],
  ['Deployment', 'gateway', (_, __, one) => (one.image = 'rookery/gateway'), /without a fixed tag/],
  [
    'Deployment',
    'gateway',
    (_, __, one) => (one.image = 'registry:5000/rookery/gateway:latest'),
    /without a fixed tag/,
  ],
  ['Job', 'package-migrate-0-1-0', (_, __, one) => delete one.resources.limits, /no limit of memory/],
  ['Deployment', 'identity', (_, __, one) => delete one.resources.requests.cpu, /requests no CPU/],
  [
    'Deployment',
    'identity',
    (_, __, one) => one.env.push({ name: 'NATS_URL', value: 'nats://x' }),
    /a secret in the variable/,
  ],
  ['Deployment', 'import', (_, __, one) => (one.resources.limits['ephemeral-storage'] = '1Gi'), /is evicted before/],
  ['Deployment', 'identity', (_, __, one) => delete one.startupProbe, /lacks a probe/],
  [
    'Deployment',
    'identity',
    (_, __, one) => (one.livenessProbe.httpGet.path = '/-/health/ready'),
    /liveness is readiness/,
  ],
  ['Deployment', 'identity', (_, __, one) => delete one.readinessProbe.timeoutSeconds, /impatient readiness probe/],
  ['Deployment', 'identity', (_, __, one) => (one.livenessProbe.httpGet.port = 'admin'), /probes the unknown port/],
  ['Deployment', 'import', (object) => (object.spec.replicas = 1), /has one replica/],
  ['Deployment', 'import', (object) => delete object.spec.strategy, /loses replicas in an update/],
  [
    'Deployment',
    'import',
    (_, pod) => pod.topologySpreadConstraints.pop(),
    /is not spread over kubernetes.io\/hostname/,
  ],
  [
    'PodDisruptionBudget',
    'admin',
    (object) => (object.spec.selector.matchLabels = { a: 'b' }),
    /has 0 disruption budgets/,
  ],
  ['Deployment', 'gateway', (_, pod) => (pod.terminationGracePeriodSeconds = 10), /killed before its requests end/],
  ['Deployment', 'gateway', (_, pod) => (pod.priorityClassName = 'other'), /no priority class/],
  ['Job', 'identity-migrate-0-1-0', (object) => (object.metadata.name = 'identity-migrate'), /no release in its name/],
  ['Job', 'identity-migrate-0-1-0', (object) => delete object.spec.backoffLimit, /no limit of tries/],
  [
    'Job',
    'identity-migrate-0-1-0',
    (_, __, one) => (one.envFrom[0].configMapRef.name = 'rookery-settings-22cbg24kmt'),
    /changes with the settings/,
  ],
  ['Deployment', 'package', (object) => (object.spec.selector.matchLabels = { a: 'b' }), /not select its own pods/],
  [
    'Deployment',
    'package',
    (_, __, one) => (one.envFrom[0].configMapRef.name = 'rookery'),
    /unknown ConfigMap rookery/,
  ],
  ['Deployment', 'package', (_, __, one) => (one.volumeMounts[0].name = 'other'), /unknown volume other/],
  [
    'Deployment',
    'package',
    (_, pod) => pod.volumes.push({ name: 'x', secret: { secretName: 'x' } }),
    /unknown secret x/,
  ],
  [
    'PersistentVolumeClaim',
    'package-blobs',
    (object) => (object.metadata.name = 'blobs'),
    /unknown claim package-blobs/,
  ],
  [
    'Deployment',
    'identity',
    (_, pod) => pod.volumes.push({ name: 'x', secret: { secretName: 'identity-owner' } }),
    /Deployment identity has the address of the owner of tables: identity-owner/,
  ],
  [
    'Deployment',
    'admin',
    (_, pod) =>
      pod.volumes.push({ name: 'x', projected: { sources: [{ secret: { name: 'package-owner', items: [] } }] } }),
    /Deployment admin has the address of the owner of tables: package-owner/,
  ],
  [
    'Deployment',
    'import',
    (_, __, one) =>
      one.env.push({ name: 'X', valueFrom: { secretKeyRef: { name: 'import-owner', key: 'database-url' } } }),
    /Deployment import has the address of the owner of tables: import-owner/,
  ],
  [
    'Deployment',
    'import',
    (_, __, one) => one.envFrom.push({ secretRef: { name: 'import-owner' } }),
    /has the address/,
  ],
  [
    'Job',
    'identity-bootstrap-0-1-0',
    (_, pod) => (pod.volumes[0].secret.secretName = 'identity-owner'),
    /Job identity-bootstrap-0-1-0 has the address of the owner of tables/,
  ],
  [
    'Job',
    'admin-migrate-0-1-0',
    (_, __, one) => (one.env[0].value = '/etc/rookery/secrets/database-url'),
    /does not migrate as the owner of tables/,
  ],
  [
    'Job',
    'admin-migrate-0-1-0',
    (_, pod) => (pod.volumes[1].secret.secretName = 'import-owner'),
    /does not migrate as the owner of tables/,
  ],
  ['Job', 'admin-migrate-0-1-0', (_, __, one) => one.env.pop(), /grants its service no rights/],
  ['Service', 'import', (object) => (object.spec.selector = { a: 'b' }), /selects no pods/],
  ['Service', 'import', (object) => (object.spec.ports[0].targetPort = 'web'), /leads to the unknown port web/],
  [
    'Service',
    'gateway',
    (object) => object.spec.ports.push({ name: 'management', port: 9090, targetPort: 'management' }),
    /publishes more than the API/,
  ],
  ['Ingress', 'gateway', (object) => delete object.spec.tls, /without TLS/],
  ['Ingress', 'gateway', ({ spec }) => (spec.rules[0].http.paths[0].backend.service.name = 'x'), /leads to no service/],
  ['HorizontalPodAutoscaler', 'package', (object) => (object.spec.scaleTargetRef.name = 'x'), /unknown Deployment x/],
  ['HorizontalPodAutoscaler', 'package', (object) => (object.spec.minReplicas = 1), /differ in the smallest number/],
  ['HorizontalPodAutoscaler', 'package', (object) => (object.spec.maxReplicas = 20), /connections of 300/],
  ['Deployment', 'gateway', (object) => (object.spec.replicas = 4), /divides rates by another number/],
  [
    'Deployment',
    'gateway',
    (_, __, one) =>
      (one.env = one.env.filter((/** @type {any} */ { name }) => name !== 'GATEWAY_TRUSTED_PROXIES_COUNT')),
    /Ingress for its only client/,
  ],
  ['Namespace', 'rookery', (object) => delete object.metadata.labels, /not enforce restricted/],
  [
    'NetworkPolicy',
    'package',
    (object) => (object.spec.podSelector.matchLabels = { a: 'b' }),
    /connections from anywhere/,
  ],
];

describe('the production overlay', { skip: canRender() ? false : 'kubectl is not installed' }, () => {
  /** @type {string} */
  let rendered;
  before(() => (rendered = renderOverlay(overlay) ?? ''));
  const objects = () => parseAllDocuments(rendered).map((document) => document.toJS());

  it('keeps all rules', () => {
    assert.deepEqual(manifestProblems(objects()), []);
  });

  for (const [kind, name, change, problem] of FAULTS)
    it(`is refused when ${kind} ${name}: ${problem.source}`, () => {
      const all = objects();
      const object = all.find((one) => one.kind === kind && one.metadata.name === name);
      assert.ok(object, `there is no ${kind} ${name}`);
      const pod = object.spec?.template?.spec;
      change(object, pod, pod?.containers[0]);
      const found = manifestProblems(all);
      assert.ok(
        found.some((text) => problem.test(text)),
        `not caught: ${found.join('; ')}`,
      );
    });
});
