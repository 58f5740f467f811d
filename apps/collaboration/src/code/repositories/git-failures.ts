import { GitBusy, GitError } from '@rookery/git';
import { TooLarge, Unavailable } from '@rookery/kernel';

const SLOW_RETRY_SECONDS = 30;

/** Runs a step with git and converts its failures to those of the kernel. Errors: Unavailable, TooLarge. */
export async function convertGitFailures<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof GitBusy) throw new Unavailable('git busy', error.retryAfterSeconds);
    if (error instanceof GitError && error.reason === 'too large') throw new TooLarge();
    // Another process makes git slow, or the request is too costly: the log line has the error.
    if (error instanceof GitError && error.reason === 'timed out')
      throw new Unavailable('git busy', SLOW_RETRY_SECONDS);
    throw error;
  }
}
