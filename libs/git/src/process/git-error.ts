/** Reason of a failed git command. */
export type GitReason =
  /** The repository has no folder, or the folder is no repository. */
  | 'no repository'
  /** A revision, object or path does not exist. */
  | 'not found'
  /** An abbreviated id fits several objects. */
  | 'ambiguous'
  /** An argument breaks the rules of this library, so git was not started. */
  | 'invalid'
  /** Objects are damaged, or break the rules of fsck. */
  | 'corrupt'
  | 'timed out'
  /** A limit of memory, output, file size or pack size was reached. */
  | 'too large'
  /** Another process holds a lock file. */
  | 'locked'
  /** A hook refused the push. */
  | 'refused'
  /** A ref does not have the expected value. */
  | 'conflict'
  /** A remote server cannot be reached, or refuses the credentials. */
  | 'remote'
  /** git or a program that it needs is not installed. */
  | 'not installed'
  /** Too many git processes run or wait. */
  | 'busy'
  | 'failed';

/**
 * Failure of a git command. `message` is one sentence without paths and credentials; `stderr` is the bounded output of
 * git for the log, never for users.
 */
export class GitError extends Error {
  constructor(
    readonly reason: GitReason,
    message: string,
    readonly stderr = '',
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'GitError';
  }
}

/** Refusal because too many git processes run or wait. Callers answer 429 or 503 with `Retry-After`. Units: seconds. */
export class GitBusy extends GitError {
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
  ) {
    super('busy', message);
    this.name = 'GitBusy';
    this.name = 'GitBusy';
  }
}

/** Patterns of git's messages (LC_ALL=C), the first match wins. */
const PATTERNS: readonly (readonly [RegExp, GitReason, string])[] = [
  // The path is a user's text, which must not match another pattern.
  [
    /^fatal: (?:no such path |pathspec '|file [^\n]* has only \d+ lines)/m,
    'not found',
    'The revision, object or path does not exist.',
  ],
  [/^(?:prlimit|setpriv): failed to execute/m, 'not installed', 'git, or a program that it needs, is not installed.'],
  [/not a git repository|does not appear to be a git repository/i, 'no repository', 'The repository does not exist.'],
  [/\.lock': File exists|Another git process seems to be running/, 'locked', 'Another git process holds a lock.'],
  [/out of memory|malloc failed|mmap failed|unable to create thread/i, 'too large', 'git reached its memory limit.'],
  [/maximum allowed size|File too large|file size limit exceeded/i, 'too large', 'git reached its size limit.'],
  [/hook declined/, 'refused', 'A hook refused the push.'],
  [/ is ambiguous$/m, 'ambiguous', 'The abbreviated id fits several objects.'],
  [/cannot lock ref|is at [0-9a-f]{40} but expected|reference already exists/, 'conflict', 'The ref has changed.'],
  [
    /fsck error|corrupt|inflate:|hash mismatch|bad object header|garbage at end|missing (?:blob|tree|commit)|unable to read (?:tree|sha1|object)|index-pack (?:died|failed|abnormal)|early EOF|bad pack|invalid index-pack output|unresolved deltas|unpack-objects abnormal/i,
    'corrupt',
    'An object is damaged or breaks the rules of git.',
  ],
  [
    /unable to access|could not resolve host|authentication failed|could not read from remote|could not read (?:username|password)|RPC failed|repository '[^'\n]*' not found|transport '[^'\n]*' not allowed|couldn't find remote ref/i,
    'remote',
    'The remote repository cannot be read.',
  ],
  [
    /unknown revision|bad revision|not a valid (?:object name|commit name|ref)|bad object|did not match any|not a tree object|not a valid object|no such (?:path|ref)|does not exist|could not get object info|malformed object name|no such branch|not something we can merge|has only \d+ lines/i,
    'not found',
    'The revision, object or path does not exist.',
  ],
];

/** Makes a typed error of the exit of git. `stderr` is the output of git in the C locale. */
export function gitErrorOfExit(stderr: string, code: number | null, signal: NodeJS.Signals | null): GitError {
  if (signal === 'SIGXCPU') return new GitError('timed out', 'git reached its limit of processor time.', stderr);
  if (signal === 'SIGXFSZ') return new GitError('too large', 'git reached its size limit.', stderr);
  const match = PATTERNS.find(([pattern]) => pattern.test(stderr));
  if (match) return new GitError(match[1], match[2], stderr);
  return new GitError('failed', `git ended with ${signal ?? `code ${code}`}.`, stderr);
}

/** Makes an error for an argument that never reaches git. */
export function invalidGitArgument(message: string): GitError {
  return new GitError('invalid', message);
}
