import { gitErrorOfExit } from './git-error';
import { gitVersionProblem } from './version';

describe('an error of git', () => {
  it.each([
    ['fatal: not a git repository: /x', 'no repository'],
    ["fatal: bad revision 'x'", 'not found'],
    ['fatal: Not a valid object name x', 'not found'],
    ["fatal: no such path 'x' in y", 'not found'],
    ["fatal: pathspec 'fsck error' did not match any files", 'not found'],
    ['fatal: no such path not a git repository in x', 'not found'],
    ['fatal: file x is corrupt has only 3 lines', 'not found'],
    ['error: short object ID abcd is ambiguous', 'ambiguous'],
    ['fatal: loose object x (stored in y) is corrupt', 'corrupt'],
    ['fatal: fsck error in packed object', 'corrupt'],
    ["fatal: Unable to create '/x/refs/heads/a.lock': File exists.", 'locked'],
    [`fatal: cannot lock ref 'refs/heads/x': is at ${'a'.repeat(40)} but expected ${'b'.repeat(40)}`, 'conflict'],
    ['fatal: pack exceeds maximum allowed size', 'too large'],
    ['fatal: Out of memory, malloc failed (tried to allocate 1 bytes)', 'too large'],
    ['! [remote rejected] main -> main (pre-receive hook declined)', 'refused'],
    ["fatal: unable to access 'https://x/': Could not resolve host: x", 'remote'],
    ['prlimit: failed to execute setpriv: No such file or directory', 'not installed'],
    ['something else', 'failed'],
  ])('%j is %s', (stderr, reason) => {
    expect(gitErrorOfExit(`${stderr}\n`, 128, null)).toMatchObject({ reason, stderr: `${stderr}\n` });
  });

  it('is found in no time, whatever a server writes', () => {
    const before = process.cpuUsage();
    gitErrorOfExit("repository '".repeat(5400), 128, null);
    gitErrorOfExit("transport '".repeat(5900), 128, null);
    expect(process.cpuUsage(before).user).toBeLessThan(100_000);
  });

  it('of a limit of the kernel is told by the signal', () => {
    expect([gitErrorOfExit('', null, 'SIGXCPU').reason, gitErrorOfExit('', null, 'SIGXFSZ').reason]).toEqual([
      'timed out',
      'too large',
    ]);
    expect(gitErrorOfExit('', null, 'SIGSEGV').message).toBe('git ended with SIGSEGV.');
  });
});

describe('a version of git', () => {
  it.each([
    'git version 2.39.5\n',
    'git version 2.40.0.windows.1',
    'git version 2.51.0 (Apple Git-1)',
    'git version 3.0.0-rc1',
  ])('%j is new enough', (text) => {
    expect(gitVersionProblem(text)).toBeNull();
  });
  it('that is too old is named', () => {
    expect(gitVersionProblem('git version 2.38.1')).toBe('git 2.38 is too old: 2.39 or newer is needed.');
    expect(gitVersionProblem('')).toBe('The program git does not tell its version.');
  });
});
