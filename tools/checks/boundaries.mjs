/**
 * Permitted imports, with reasons: the table behind the lint rules. A library or service may import only the libraries in
 * its row; a file of a service only the layers that its suffix allows. Each rule prints its reason.
 *
 * @typedef {{ regex: string, message: string, allowImportNames?: string[], allowTypeImports?: boolean }} ImportPattern
 * @typedef {{ files: string[], ignores?: string[], rules: Record<string, any> }} LintBlock
 */
const LIBRARIES = [
  'contracts',
  'kernel',
  'platform',
  'persistence',
  'messaging',
  'jobs',
  'api-v4',
  'directory',
  'instance',
  'egress',
  'blobs',
  'git',
  'testing',
];

const SERVICE_LIBRARIES = [
  'contracts',
  'kernel',
  'platform',
  'persistence',
  'messaging',
  'jobs',
  'api-v4',
  'directory',
  'instance',
  'egress',
  'blobs',
];

/** The app that boots all others in one process, and may therefore import their `process.ts`. */
const TOGETHER = 'apps/one';

/**
 * Rooms (libraries and services) with the libraries that they may import, and the reason for excluding the others.
 * @type {Record<string, { may: string[], why: string }>}
 */
export const ROOMS = {
  'libs/contracts': { may: [], why: 'all libraries and services import the contracts, so the contracts import none' },
  'libs/kernel': { may: [], why: 'the kernel is pure: no framework, no IO, no other library' },
  'libs/platform': {
    may: ['kernel', 'contracts'],
    why: 'the process library knows neither databases nor HTTP resources',
  },
  'libs/persistence': {
    may: ['contracts', 'kernel', 'platform'],
    why: 'the database layer must be usable without HTTP or NATS',
  },
  'libs/messaging': {
    may: ['contracts', 'kernel', 'platform', 'persistence'],
    why: 'messages are relayed and consumed without knowing the HTTP edge',
  },
  'libs/jobs': {
    may: ['contracts', 'kernel', 'platform', 'persistence'],
    why: "jobs are rows in the service's own database; they know neither the bus nor the HTTP edge",
  },
  'libs/api-v4': {
    may: ['contracts', 'kernel', 'platform'],
    why: 'the HTTP edge must not know how rows are stored or events are sent',
  },
  'libs/directory': {
    may: ['contracts', 'kernel', 'platform', 'persistence', 'messaging', 'api-v4'],
    why: 'the directory copy is a library, not a service',
  },
  'libs/instance': {
    may: ['contracts', 'kernel', 'platform', 'persistence'],
    why: 'settings of administrators come from the admin service and are kept in one row: no events, no routes',
  },
  'libs/egress': { may: ['platform'], why: 'requests to external servers know no rows, no events and no resources' },
  'libs/blobs': { may: ['platform'], why: 'files are stored by content, without knowing rows, events or routes' },
  'libs/git': { may: ['platform'], why: 'repositories on disk know no project, no permission, no rows and no HTTP' },
  'libs/testing': { may: LIBRARIES, why: 'testing helps all libraries' },
  'apps/gateway': {
    may: ['contracts', 'kernel', 'platform', 'api-v4'],
    why: 'the gateway knows tokens and templates, never rows, events or the directory copy',
  },
  'apps/identity': {
    may: SERVICE_LIBRARIES,
    why: 'tests alone may import testing, and repositories belong to collaboration',
  },
  'apps/collaboration': { may: [...SERVICE_LIBRARIES, 'git'], why: 'tests alone may import testing' },
  'apps/import': { may: [...SERVICE_LIBRARIES, 'git'], why: 'tests alone may import testing' },
  'apps/package': {
    may: SERVICE_LIBRARIES,
    why: 'tests alone may import testing, and repositories belong to collaboration',
  },
  'apps/admin': {
    may: SERVICE_LIBRARIES,
    why: 'tests alone may import testing, and repositories belong to collaboration',
  },
  [TOGETHER]: { may: ['platform'], why: 'it only boots the definitions of the other apps' },
};

const TESTS = ['**/*.spec.ts', '**/test/**/*.ts', 'apps/e2e/**/*.ts'];
const EDGE = '(controller|dto|presenter|permission|schema|consumer|job)';
/** Suffixes that are neither inside nor edge: files that compose a service, and JSON of PostgreSQL, which both sides read. */
const BETWEEN = '(shape|module|config|command|worker)';

/** @param {ImportPattern[]} patterns */
const restrictImports = (patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

/**
 * Patterns of files that open connections without `libs/egress`: to processes, servers and databases of the estate,
 * whose addresses come from settings and never from users.
 */
const INSIDE_THE_ESTATE = [
  'libs/egress/src/**',
  'libs/testing/src/**',
  'apps/gateway/src/**',
  'libs/platform/src/**',
  'libs/api-v4/src/**',
  'libs/directory/src/copy/identity-client.ts',
  'libs/persistence/src/connections/steady-client.ts',
  'libs/instance/src/admin-client.ts',
  'libs/platform/src/calling/internal-route.ts',
  'libs/git/src/process/git-starter.ts',
  'libs/git/src/transport/push-hooks.ts',
];
const CONNECTING = '^(undici|(node:)?(net|tls|http2?|https|dgram|dns)(/|$))';
const OUTWARD =
  'Servers named by users are requested through Egress (@rookery/egress), which checks their addresses. For a server of the estate, add the file to tools/checks/boundaries.mjs.';

/** Patterns of files that start other programs. */
const STARTS_PROGRAMS = ['libs/git/src/process/git-starter.ts', 'libs/testing/src/**'];
const STARTING = {
  regex: '^(node:)?child_process$',
  allowTypeImports: true,
  message:
    'A service starts no program. git is started by libs/git alone (@rookery/git), with fixed arguments, a clean environment and limits.',
};

/**
 * Lint rules against connections without egress, and against starting programs outside of `libs/git`. Both use one ESLint
 * rule, and a later block replaces the options of an earlier one, so the blocks combine them.
 */
function outwardConnectionRules() {
  const files = ['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'];
  /** @param {...ImportPattern} patterns */
  const closed = (...patterns) => ({ '@typescript-eslint/no-restricted-imports': ['error', { patterns }] });
  const connecting = { regex: CONNECTING, allowImportNames: ['isIP'], message: OUTWARD };
  const globals = ['fetch', 'WebSocket', 'EventSource'].map((name) => ({ name, message: OUTWARD }));
  return [
    { files, ignores: [...TESTS, ...STARTS_PROGRAMS], rules: closed(STARTING) },
    {
      files,
      ignores: [...TESTS, ...INSIDE_THE_ESTATE],
      rules: { ...closed(connecting, STARTING), 'no-restricted-globals': ['error', ...globals] },
    },
    { files: STARTS_PROGRAMS, ignores: [...TESTS, ...INSIDE_THE_ESTATE], rules: closed(connecting) },
  ];
}

/**
 * Forbids imports of other services, in every spelling of the path.
 * @param {string} workspace
 */
function forbidImportsOfOtherServices(workspace) {
  const names = Object.keys(ROOMS)
    .filter((other) => other.startsWith('apps/') && other !== workspace)
    .map((other) => other.slice('apps/'.length))
    .concat('e2e');
  return {
    regex: `(^@rookery/(${names.join('|')})(/|$))|((^|/)apps/(${names.join('|')})/)|(^(\\.\\./){2,}(${names.join('|')})/)`,
    message: 'A service never imports another service: it receives events and sends HTTP requests.',
  };
}

/** @param {string} workspace */
function forbidImportsOfOtherLibraries(workspace) {
  const { may, why } = ROOMS[workspace] ?? { may: [], why: 'it has no row in the table' };
  const own = workspace.startsWith('libs/') ? [workspace.slice('libs/'.length)] : [];
  const closed = LIBRARIES.filter((name) => !may.includes(name) && !own.includes(name));
  return [
    ...(closed.length
      ? [
          {
            regex: `^@rookery/(${closed.join('|')})(/|$)`,
            message: `${workspace} may not import this library: ${why}.`,
          },
        ]
      : []),
    {
      regex: '^@rookery/[a-z0-9-]+/.+',
      message: 'Import a library by its name only: its index is its public interface.',
    },
    { regex: '(^|/)libs/', message: 'Import a library by its name (@rookery/...), not by a path into its folder.' },
  ];
}

const FRAMEWORKS = {
  regex: '^(@nestjs/|typeorm|pg$|nats$|fastify|undici|(node:)?(fs|net|tls|http2?|https|dgram|dns|child_process)(/|$))',
  message: 'contracts and kernel are pure: no framework and no IO.',
};

const INSIDE = [
  {
    regex: `\\.${EDGE}$`,
    message:
      'Inside (entity, policy, queries, service, no suffix) never imports the edge: HTTP and NATS call the inside, not the other way round.',
  },
  {
    regex: '^@rookery/(api-v4|messaging)$',
    allowImportNames: [
      'FeatureAccess',
      'GroupScope',
      'NamespaceFacts',
      'namespaceOf',
      'ProjectScope',
      'SCOPE_RESOLVER',
      'ScopeResolver',
      'admitsJobTokensOf',
    ],
    message: 'Inside uses nouns and kernel errors; HTTP and NATS belong to controllers, presenters and consumers.',
  },
  {
    regex: '^@nestjs/(?!common$)',
    message: 'The inside imports only Injectable from Nest.',
  },
];

/** Files outside of the inside. Files without a suffix, and entities, policies, queries and services, are inside. */
const OUTSIDE = [
  ...(`${EDGE}${BETWEEN}`.match(/[a-z]+/g) ?? []).map((suffix) => `**/*.${suffix}.ts`),
  '**/migrations/*.ts',
  'apps/*/src/{main,process,database}.ts',
];

/**
 * Flat-config blocks for eslint.config.mjs.
 * @returns {LintBlock[]}
 */
export function boundaryRules() {
  const blocks = Object.keys(ROOMS).map((room) => ({
    files: [`${room}/src/**/*.ts`],
    ignores: TESTS,
    rules: restrictImports([
      ...forbidImportsOfOtherLibraries(room),
      ...(room === TOGETHER ? [] : [forbidImportsOfOtherServices(room)]),
      ...(room === 'libs/contracts' || room === 'libs/kernel' ? [FRAMEWORKS] : []),
    ]),
  }));
  const inside = Object.keys(ROOMS)
    .filter((room) => room.startsWith('apps/') && !['apps/gateway', TOGETHER].includes(room))
    .map((room) => ({
      files: [`${room}/src/**/*.ts`],
      ignores: [...TESTS, ...OUTSIDE],
      rules: restrictImports([...forbidImportsOfOtherLibraries(room), forbidImportsOfOtherServices(room), ...INSIDE]),
    }));
  return [...blocks, ...inside, ...outwardConnectionRules()];
}
