import { Injectable } from '@nestjs/common';

/**
 * Runs the merges into one branch one after another in this process, so that most of them move the branch at the first
 * attempt. Merges of other processes are refused by git's compare-and-swap, and repeated.
 */
@Injectable()
export class BranchMergeQueue {
  private readonly last = new Map<string, Promise<void>>();

  async takeTurn<T>(projectId: number, branch: string, step: () => Promise<T>): Promise<T> {
    const key = `${projectId} ${branch}`;
    const before = this.last.get(key) ?? Promise.resolve();
    const running = before.then(step);
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.last.set(key, ended);
    try {
      return await running;
    } finally {
      if (this.last.get(key) === ended) this.last.delete(key);
    }
  }
}
