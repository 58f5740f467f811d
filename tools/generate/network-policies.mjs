/**
 * The network policies of a cluster: which process may connect to which, derived from the tables of internal keys and
 * database passwords, and from the address ranges that `libs/egress` refuses. They are the second line of defence.
 *
 * @typedef {{ ports: { port: number | string, protocol?: string }[], from?: object[], to?: object[] }} Rule
 * @typedef {{ policyTypes: string[], ingress?: Rule[], egress?: Rule[] }} Spec
 */
import { stringify } from 'yaml';
import { INTERNAL_PAIRS, SERVICES } from '../processes/environment.mjs';

/** Services that call servers named by users (libs/egress). */
export const ASKS_OUTSIDE = ['import', 'admin'];
const MIGRATIONS = SERVICES.map((name) => `${name}-migrate`);
const BOOTSTRAP = 'identity-bootstrap';

/** Targets of connections with their ports and clients. The gateway asks management ports whether a service is ready. */
function connections() {
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
const named = (names) =>
  names.length === 1
    ? { matchLabels: { 'app.kubernetes.io/name': names[0] } }
    : { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: names }] };
/** @param {(number | string)[]} ports */
const onPorts = (ports) => ports.map((port) => ({ port }));
/** @type {(name: string, pods: string[], spec: Spec) => Record<string, unknown> & { spec: Spec & { podSelector: object } }} */
const policy = (name, pods, spec) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, labels: { 'app.kubernetes.io/part-of': 'rookery' } },
  spec: { podSelector: named(pods), ...spec },
});

/**
 * Allowed clients of a process. Health and metrics are open: they contain no secrets and no user content.
 * @param {string} name
 */
function ingressOf(name) {
  const rules = connections().filter(({ to, ports }) => to === name && !ports.includes('management'));
  /** @type {Rule[]} */
  const ingress = rules.map(({ ports, from }) => ({ ports: onPorts(ports), from: [{ podSelector: named(from) }] }));
  if (SERVICES.includes(name)) ingress.push({ ports: onPorts(['management']) });
  return policy(name, [name], { policyTypes: ['Ingress'], ingress });
}

/**
 * Allowed targets of a process, in addition to DNS.
 * @param {string} name
 */
function egressOf(name) {
  const targets = connections().filter(({ from }) => from.includes(name));
  const egress = targets.map(({ to, ports }) => ({ ports: onPorts(ports), to: [{ podSelector: named([to]) }] }));
  return policy(`${name}-egress`, [name], { policyTypes: ['Egress'], egress });
}

/**
 * DNS lookups within the cluster, wherever its resolver runs.
 * @param {string[]} processes
 */
function resolving(processes) {
  const ports = ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol }));
  const egress = [{ ports, to: [{ namespaceSelector: {} }] }];
  return policy('names', processes, { policyTypes: ['Egress'], egress });
}

/** @param {{ cidr: string, except: string[] }[]} ranges */
function outside(ranges) {
  const to = ranges.map(({ cidr, except }) => ({ ipBlock: { cidr, except } }));
  return policy('outside', ASKS_OUTSIDE, { policyTypes: ['Egress'], egress: [{ ports: onPorts([443]), to }] });
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
export function databasePolicies() {
  const policies = SERVICES.flatMap((name) => {
    const clients = [name, `${name}-migrate`, ...(name === 'identity' ? [BOOTSTRAP] : [])];
    const instances = { podSelector: { matchLabels: { 'cnpg.io/cluster': `${name}-db` } } };
    const operator = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'cnpg-system' } } };
    const ofInstances = policy(`${name}-db`, [name], {
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { ports: onPorts([POSTGRES]), from: [{ podSelector: named(clients) }, instances, operator] },
        { ports: onPorts([INSTANCE_STATUS]), from: [instances, operator] },
        { ports: onPorts([INSTANCE_METRICS]) },
      ],
      egress: [
        { ports: onPorts([POSTGRES, INSTANCE_STATUS]), to: [instances] },
        { ports: ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol })), to: [{ namespaceSelector: {} }] },
        { ports: onPorts([443, 6443]) },
      ],
    });
    return [
      { ...ofInstances, spec: { ...ofInstances.spec, ...instances } },
      policy(`${name}-db-clients`, clients, {
        policyTypes: ['Egress'],
        egress: [{ ports: onPorts([POSTGRES]), to: [instances] }],
      }),
    ];
  });
  return rendered(ABOUT_DATABASES, policies);
}

/** Connections of NATS by the official chart: clients, routes between the servers, and metrics. */
export function busPolicies() {
  const clients = { ports: onPorts([4222]), from: [{ podSelector: named(SERVICES) }] };
  const routes = { ports: onPorts([6222]), from: [{ podSelector: named(['nats']) }] };
  return rendered(ABOUT_BUS, [
    policy('nats-chart', ['nats'], {
      policyTypes: ['Ingress', 'Egress'],
      ingress: [clients, routes, { ports: onPorts([7777]) }],
      egress: [
        { ports: onPorts([6222]), to: [{ podSelector: named(['nats']) }] },
        { ports: ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol })), to: [{ namespaceSelector: {} }] },
      ],
    }),
    policy('nats-chart-clients', SERVICES, {
      policyTypes: ['Egress'],
      egress: [{ ports: onPorts([4222]), to: [{ podSelector: named(['nats']) }] }],
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
    ...['nats', 'postgres', 'mail', ...SERVICES].map(ingressOf),
    resolving(processes),
    ...processes.map(egressOf),
    // Servers that open no connections.
    policy('servers-egress', ['nats', 'postgres', 'mail'], { policyTypes: ['Egress'], egress: [] }),
    outside(ranges),
  ];
  return rendered(ABOUT, policies);
}

/**
 * @param {string} about
 * @param {object[]} policies
 */
function rendered(about, policies) {
  const texts = policies.map((one) => `---\n${stringify(one, { aliasDuplicateObjects: false })}`);
  return `${about}${texts.join('')}`;
}
