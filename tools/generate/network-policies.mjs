/**
 * The network policies of a cluster: which process may connect to which, derived from the tables of internal keys and
 * database passwords, and from the address ranges that `libs/egress` refuses. They are the second line of defence.
 *
 * @typedef {{ ports: { port: number | string, protocol?: string }[], from?: object[], to?: object[] }} PolicyRule
 * @typedef {{ policyTypes: string[], ingress?: PolicyRule[], egress?: PolicyRule[] }} PolicySpec
 */
import { stringify } from 'yaml';
import { INTERNAL_PAIRS, SERVICES } from '../processes/environment.mjs';

/** Services that call servers named by users (libs/egress). */
export const ASKS_OUTSIDE = ['import', 'admin'];
const MIGRATIONS = SERVICES.map((name) => `${name}-migrate`);
const BOOTSTRAP = 'identity-bootstrap';

/** Targets of connections with their ports and clients. The gateway asks management ports whether a service is ready. */
function listClusterConnections() {
  /** @param {string} name */
  const callersOf = (name) => [
    ...new Set(['gateway', ...INTERNAL_PAIRS.filter(([, callee]) => callee === name).map(([caller]) => caller)]),
  ];
  return [
    { to: 'nats', ports: ['client'], from: SERVICES },
    { to: 'postgres', ports: ['postgres'], from: [...SERVICES, ...MIGRATIONS, BOOTSTRAP] },
    { to: 'mail', ports: ['smtp'], from: ['collaboration'] },
    ...SERVICES.map((name) => ({ to: name, ports: ['http'], from: callersOf(name) })),
    ...SERVICES.map((name) => ({ to: name, ports: ['management'], from: ['gateway'] })),
  ];
}

/** @param {string[]} names */
const podSelectorFor = (names) =>
  names.length === 1
    ? { matchLabels: { 'app.kubernetes.io/name': names[0] } }
    : { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: names }] };
/** @param {(number | string)[]} ports */
const toPortRules = (ports) => ports.map((port) => ({ port }));
/** @type {(name: string, pods: string[], spec: PolicySpec) => Record<string, unknown> & { spec: PolicySpec & { podSelector: object } }} */
const networkPolicy = (name, pods, spec) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, labels: { 'app.kubernetes.io/part-of': 'rookery' } },
  spec: { podSelector: podSelectorFor(pods), ...spec },
});

/**
 * Allowed clients of a process. Health and metrics are open: they contain no secrets and no user content.
 * @param {string} name
 */
function ingressPolicyOf(name) {
  const rules = listClusterConnections().filter(({ to, ports }) => to === name && !ports.includes('management'));
  /** @type {PolicyRule[]} */
  const ingress = rules.map(({ ports, from }) => ({
    ports: toPortRules(ports),
    from: [{ podSelector: podSelectorFor(from) }],
  }));
  if (SERVICES.includes(name)) ingress.push({ ports: toPortRules(['management']) });
  return networkPolicy(name, [name], { policyTypes: ['Ingress'], ingress });
}

/**
 * Allowed targets of a process, in addition to DNS.
 * @param {string} name
 */
function egressPolicyOf(name) {
  const targets = listClusterConnections().filter(({ from }) => from.includes(name));
  const egress = targets.map(({ to, ports }) => ({
    ports: toPortRules(ports),
    to: [{ podSelector: podSelectorFor([to]) }],
  }));
  return networkPolicy(`${name}-egress`, [name], { policyTypes: ['Egress'], egress });
}

/**
 * DNS lookups within the cluster, wherever its resolver runs.
 * @param {string[]} processes
 */
function dnsPolicyFor(processes) {
  const ports = ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol }));
  const egress = [{ ports, to: [{ namespaceSelector: {} }] }];
  return networkPolicy('names', processes, { policyTypes: ['Egress'], egress });
}

/** @param {{ cidr: string, except: string[] }[]} ranges */
function outsideEgressPolicyFor(ranges) {
  const to = ranges.map(({ cidr, except }) => ({ ipBlock: { cidr, except } }));
  return networkPolicy('outside', ASKS_OUTSIDE, {
    policyTypes: ['Egress'],
    egress: [{ ports: toPortRules([443]), to }],
  });
}

/** Port of PostgreSQL, and the port at which an operator asks an instance for its state. */
const POSTGRES = 5432;
const INSTANCE_STATUS = 8000;
/** Port at which an instance or a server reports its metrics. */
const INSTANCE_METRICS = 9187;

/**
 * Connections of the clusters of CloudNativePG: each service and its jobs reach their own cluster only. Instances reach each
 * other, the server of the Kubernetes API and the archive. The operator runs in the namespace `cnpg-system`.
 */
export function databaseNetworkPolicies() {
  const policies = SERVICES.flatMap((name) => {
    const clients = [name, `${name}-migrate`, ...(name === 'identity' ? [BOOTSTRAP] : [])];
    const instances = { podSelector: { matchLabels: { 'cnpg.io/cluster': `${name}-db` } } };
    const operator = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'cnpg-system' } } };
    const ofInstances = networkPolicy(`${name}-db`, [name], {
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { ports: toPortRules([POSTGRES]), from: [{ podSelector: podSelectorFor(clients) }, instances, operator] },
        { ports: toPortRules([INSTANCE_STATUS]), from: [instances, operator] },
        { ports: toPortRules([INSTANCE_METRICS]) },
      ],
      egress: [
        { ports: toPortRules([POSTGRES, INSTANCE_STATUS]), to: [instances] },
        { ports: ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol })), to: [{ namespaceSelector: {} }] },
        { ports: toPortRules([443, 6443]) },
      ],
    });
    return [
      { ...ofInstances, spec: { ...ofInstances.spec, ...instances } },
      networkPolicy(`${name}-db-clients`, clients, {
        policyTypes: ['Egress'],
        egress: [{ ports: toPortRules([POSTGRES]), to: [instances] }],
      }),
    ];
  });
  return renderPolicies(ABOUT_DATABASES, policies);
}

/** Connections of NATS by the official chart: clients, routes between the servers, and metrics. */
export function busNetworkPolicies() {
  const clients = { ports: toPortRules([4222]), from: [{ podSelector: podSelectorFor(SERVICES) }] };
  const routes = { ports: toPortRules([6222]), from: [{ podSelector: podSelectorFor(['nats']) }] };
  return renderPolicies(ABOUT_BUS, [
    networkPolicy('nats-chart', ['nats'], {
      policyTypes: ['Ingress', 'Egress'],
      ingress: [clients, routes, { ports: toPortRules([7777]) }],
      egress: [
        { ports: toPortRules([6222]), to: [{ podSelector: podSelectorFor(['nats']) }] },
        { ports: ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol })), to: [{ namespaceSelector: {} }] },
      ],
    }),
    networkPolicy('nats-chart-clients', SERVICES, {
      policyTypes: ['Egress'],
      egress: [{ ports: toPortRules([4222]), to: [{ podSelector: podSelectorFor(['nats']) }] }],
    }),
  ]);
}

const ABOUT_DATABASES = `# Generated by \`npm run gen\` from tools/generate/network-policies.mjs; do not edit.
# Each service reaches its own cluster. Instances reach each other, the Kubernetes API and the archive, on ports 443 and 6443.
`;
const ABOUT_BUS = `# Generated by \`npm run gen\` from tools/generate/network-policies.mjs; do not edit.
# Services reach the servers, and the servers each other.
`;
const ABOUT = `# Generated by \`npm run gen\` from tools/generate/network-policies.mjs and the ranges of libs/egress; do not edit.
# The second line of defence behind keys and passwords: permitted connections between processes. Policies add up. Operators
# with a mail relay, a database or a trace collector outside of the cluster, or with a private server in EGRESS_ALLOW, add
# their own policy for it.
`;

/**
 * Renders all policies. `ranges` are those of `publicRanges` in libs/egress.
 * @param {{ cidr: string, except: string[] }[]} ranges
 */
export function networkPolicies(ranges) {
  const processes = ['gateway', ...SERVICES, ...MIGRATIONS, BOOTSTRAP];
  const policies = [
    ...['nats', 'postgres', 'mail', ...SERVICES].map(ingressPolicyOf),
    dnsPolicyFor(processes),
    ...processes.map(egressPolicyOf),
    // Servers that open no connections.
    networkPolicy('servers-egress', ['nats', 'postgres', 'mail'], { policyTypes: ['Egress'], egress: [] }),
    outsideEgressPolicyFor(ranges),
  ];
  return renderPolicies(ABOUT, policies);
}

/**
 * @param {string} about
 * @param {object[]} policies
 */
function renderPolicies(about, policies) {
  const texts = policies.map((one) => `---\n${stringify(one, { aliasDuplicateObjects: false })}`);
  return `${about}${texts.join('')}`;
}
