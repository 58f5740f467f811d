import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';

/** Open threads of a merge request that an issue is to resolve. */
export interface OpenThreads {
  /** Returns the description for an issue that has none: the threads as a task list. */
  describe(): string;
  /** Resolves those threads that the author of the issue may resolve. `iid` is the number of the issue. */
  resolve(tx: Tx, iid: number): Promise<void>;
}

/** Threads that a new issue is to resolve: those of a merge request of its project, or one of them. */
export interface ThreadsToResolveRequest {
  readonly mergeRequestIid: number;
  readonly discussionId: string | undefined;
}

/** Finds open threads. */
export interface ThreadsToResolveFinder {
  /**
   * Finds the open threads. Returns null if there are none. Errors: NotFound of the merge request or the discussion.
   */
  find(viewer: SignedInViewer, project: ProjectScope, threads: ThreadsToResolveRequest): Promise<OpenThreads | null>;
}

/**
 * Connects issues with the threads of merge requests. The merge requests wing imports this one, and registers here how
 * to find them.
 */
@Injectable()
export class ThreadsToResolveLookup {
  private finder: ThreadsToResolveFinder | undefined;

  declareFinder(finder: ThreadsToResolveFinder): void {
    this.finder = finder;
  }

  /** Returns the open threads that a new issue is to resolve; null without any. Errors: those of ThreadsToResolveFinder. */
  async findThreadsToResolve(
    viewer: SignedInViewer,
    project: ProjectScope,
    threads: ThreadsToResolveRequest | undefined,
  ): Promise<OpenThreads | null> {
    return (threads && (await this.finder?.find(viewer, project, threads))) ?? null;
  }
}
