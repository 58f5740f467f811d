/**
 * Environment and configuration of every git process. Both are built from nothing, so neither the environment of the
 * service nor files of the machine, of a user or of a repository change what git does.
 * Source: ADR 0183; reference reliability 4.
 */

/** Names and values of git's configuration, in order. A name may occur several times. */
export type GitConfig = readonly (readonly [name: string, value: string])[];

/** Folder with objects of a push or an API write that are not part of the repository yet. */
export interface Quarantine {
  readonly objectDirectory: string;
  /** Object folders that the quarantine builds upon. */
  readonly alternates: readonly string[];
}

/** Units: bytes. */
export interface ServerLimits {
  /** Largest pack that a push may send. */
  readonly pushBytes: number;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const NO_HOOKS = '/dev/null';
/** Refs that no client sees or moves. */
export const HIDDEN_REFS = [
  'refs/keep-around',
  'refs/pipelines',
  'refs/environments',
  'refs/rookery',
  'refs/imports',
] as const;
/** Lets an import see and push the heads of merge requests, which it keeps under their upstream numbers. */
export const SHOWN_TO_IMPORTS: GitConfig = [['transfer.hideRefs', '!refs/imports']];
/** Refs that clients fetch and never push. */
const READ_ONLY_REFS = ['refs/merge-requests'] as const;
/** Faults of old public histories that pushes and imports may contain. */
const TOLERATED = ['missingSpaceBeforeDate', 'zeroPaddedFilemode', 'badTimezone', 'missingNameBeforeEmail'] as const;
const BIG_FILE_BYTES = 50 * 1024 * 1024;

/** Variables that hold for every git process. */
const FIXED: Readonly<Record<string, string>> = {
  PATH,
  HOME: '/nonexistent',
  XDG_CONFIG_HOME: '/nonexistent',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  SSH_ASKPASS: 'false',
  GIT_SSH_COMMAND: 'false',
  GIT_EDITOR: 'false',
  GIT_PAGER: 'cat',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ADVICE: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_ALLOW_PROTOCOL: 'none',
};

const CONFIG: GitConfig = [
  ['core.hooksPath', NO_HOOKS],
  ['core.fsmonitor', 'false'],
  ['core.logAllRefUpdates', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.alternateRefsCommand', 'true'],
  ['core.excludesFile', '/dev/null'],
  ['core.quotePath', 'false'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.bigFileThreshold', String(BIG_FILE_BYTES)],
  ['core.packedGitWindowSize', '32m'],
  ['core.packedGitLimit', '512m'],
  ['core.fsync', 'all'],
  ['core.fsyncMethod', 'batch'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['receive.fsckObjects', 'true'],
  ['transfer.fsckObjects', 'true'],
  ['fetch.fsckObjects', 'true'],
  ...TOLERATED.flatMap((id): GitConfig => [
    [`receive.fsck.${id}`, 'ignore'],
    [`fetch.fsck.${id}`, 'ignore'],
  ]),
  ...HIDDEN_REFS.map((ref) => ['transfer.hideRefs', ref] as const),
  ...READ_ONLY_REFS.map((ref) => ['receive.hideRefs', ref] as const),
  // A pack stays a pack: as loose objects a delta of a few bytes would become a file of many megabytes.
  ['receive.unpackLimit', '1'],
  ['receive.denyCurrentBranch', 'refuse'],
  ['receive.advertisePushOptions', 'true'],
  ['receive.advertiseAtomic', 'true'],
  ['receive.denyDeleteCurrent', 'ignore'],
  ['receive.denyNonFastForwards', 'false'],
  ['receive.updateServerInfo', 'false'],
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  // Clients of 2.39 fail in a shallow clone if they may ask for refs by name.
  ['uploadpack.allowRefInWant', 'false'],
  ['uploadpack.advertiseBundleURIs', 'false'],
  ['uploadpackfilter.allow', 'false'],
  ['uploadpackfilter.blob:none.allow', 'true'],
  ['uploadpackfilter.blob:limit.allow', 'true'],
  ['uploadpackfilter.object:type.allow', 'true'],
  ['uploadpackfilter.tree.allow', 'true'],
  ['uploadpackfilter.tree.maxDepth', '3'],
  ['transfer.bundleURI', 'false'],
  ['pack.threads', '2'],
  ['pack.windowMemory', '128m'],
  ['pack.deltaCacheSize', '64m'],
  ['pack.writeReverseIndex', 'true'],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['diff.renames', 'true'],
  ['diff.renameLimit', '1000'],
  ['diff.external', ''],
  ['diff.algorithm', 'myers'],
  ['merge.renames', 'true'],
  ['merge.directoryRenames', 'false'],
  ['i18n.logOutputEncoding', 'UTF-8'],
  ['log.showSignature', 'false'],
  ['gpg.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['credential.helper', ''],
  ['tar.tar.gz.command', 'git archive gzip'],
  ['tar.tar.bz2.command', 'bzip2 -c'],
  ['tar.umask', '0022'],
];

export interface EnvironmentRequest {
  readonly gitDirectory?: string | undefined;
  readonly quarantine?: Quarantine | undefined;
  /** Overrides of the fixed configuration. */
  readonly config?: GitConfig | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** Builds the whole environment of one git process. */
export function createGitEnvironment(request: EnvironmentRequest, limits: ServerLimits): Record<string, string> {
  const environment: Record<string, string> = { ...FIXED };
  const config: (readonly [string, string])[] = [...CONFIG, ['receive.maxInputSize', String(limits.pushBytes)]];
  if (request.gitDirectory !== undefined) {
    environment['GIT_DIR'] = request.gitDirectory;
    config.push(['safe.directory', request.gitDirectory]);
  }
  if (request.quarantine) {
    environment['GIT_OBJECT_DIRECTORY'] = request.quarantine.objectDirectory;
    environment['GIT_ALTERNATE_OBJECT_DIRECTORIES'] = request.quarantine.alternates.join(':');
  }
  config.push(...(request.config ?? []));
  environment['GIT_CONFIG_COUNT'] = String(config.length);
  for (const [index, [name, value]] of config.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = name;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return { ...environment, ...request.variables };
}

const PROTOCOL = /^[a-z0-9=:.-]{1,200}$/;

/** Returns `GIT_PROTOCOL` for a `Git-Protocol` header, and nothing for a header that is malformed. */
export function gitProtocolVariable(header: string | undefined): Record<string, string> {
  return header !== undefined && PROTOCOL.test(header) ? { GIT_PROTOCOL: header } : {};
}
