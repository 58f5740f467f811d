import { GitError } from './git-error';
import type { GitProcesses } from './git-processes';

const MINIMUM: readonly [number, number] = [2, 39];

/**
 * Readiness check of git, for `Readiness.addCheck`. Returns null if git can be used, else the problem as one sentence.
 */
export async function gitProblem(processes: GitProcesses): Promise<string | null> {
  try {
    const { stdout } = await processes.run({ args: ['version'], limits: { ms: 1500 } });
    return gitVersionProblem(stdout.toString());
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return error.reason === 'not installed'
      ? `git ${MINIMUM.join('.')} or newer is needed, with prlimit and setpriv of util-linux, and one of them is not installed.`
      : `git cannot be started: ${error.message}`;
  }
}

/** Compares the output of `git version` with the minimum. */
export function gitVersionProblem(output: string): string | null {
  const match = /^git version (\d+)\.(\d+)/.exec(output);
  if (!match) return 'The program git does not tell its version.';
  const [major, minor] = [Number(match[1]), Number(match[2])];
  const isNew = major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);
  return isNew ? null : `git ${major}.${minor} is too old: ${MINIMUM.join('.')} or newer is needed.`;
}
