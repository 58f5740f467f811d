import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type {
  SourceArchiveRequest,
  SourceCommit,
  SourceCommitAnswer,
  SourceCommitRequest,
  SourceFileAnswer,
  SourceFileRequest,
  SourceModuleRequest,
  SourceTag,
  SourceTagsAnswer,
  SourceTagsRequest,
} from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { TooManyRequests, Unavailable } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { currentWaiter, InternalRefusal, InternalRoutes, LOGGER } from '@rookery/platform';
import type { InternalRouteClient, Logger } from '@rookery/platform';

/** Maximum wait for an answer, or for the beginning of an archive. Units: ms. */
const MAX_WAIT_MS = 15_000;
/** Time that the request keeps for its own work after the answer. Units: ms. */
const KEPT_MS = 500;

/**
 * Files and archives of repositories, for registries that publish commits. Callers check that the viewer may read the code
 * of the project. Source: ADR 0205.
 */
@Injectable()
export class SourceCodeClient {
  private readonly files: InternalRouteClient<SourceFileRequest, SourceFileAnswer>;
  private readonly commits: InternalRouteClient<SourceCommitRequest, SourceCommitAnswer>;
  private readonly tags: InternalRouteClient<SourceTagsRequest, SourceTagsAnswer>;
  private readonly archives: InternalRouteClient<SourceArchiveRequest, never>;
  private readonly modules: InternalRouteClient<SourceModuleRequest, never>;

  constructor(
    routes: InternalRoutes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const limits = { maxWaitMs: MAX_WAIT_MS, share: (leftMs: number): number => leftMs - KEPT_MS };
    this.files = routes.createClient('collaboration', INTERNAL_PATHS.sourceFile, { ...limits, connections: 4 });
    this.commits = routes.createClient('collaboration', INTERNAL_PATHS.sourceCommit, { ...limits, connections: 4 });
    this.tags = routes.createClient('collaboration', INTERNAL_PATHS.sourceTags, { ...limits, connections: 4 });
    this.archives = routes.createClient('collaboration', INTERNAL_PATHS.sourceArchive, { ...limits, connections: 16 });
    this.modules = routes.createClient('collaboration', INTERNAL_PATHS.sourceModule, { ...limits, connections: 16 });
  }

  /** Reads a file at a ref, and keeps the commit for ever if the file exists. Errors: Unavailable. */
  readFile(request: SourceFileRequest): Promise<SourceFileAnswer> {
    return this.askOrUnavailable(() => this.files.ask(request));
  }

  /** Opens a zip archive of a commit. Errors: TooManyRequests; Unavailable. */
  openArchive(request: SourceArchiveRequest): Promise<Readable> {
    return this.askOrUnavailable(() => this.archives.open(request));
  }

  /** Returns a commit with files, or null if the project has no such commit. Errors: Unavailable. */
  async readCommit(request: SourceCommitRequest): Promise<SourceCommit | null> {
    return (await this.askOrUnavailable(() => this.commits.ask(request))).commit;
  }

  /** Lists the tags of versions. Errors: Unavailable. */
  async listTags(request: SourceTagsRequest): Promise<readonly SourceTag[]> {
    return (await this.askOrUnavailable(() => this.tags.ask(request))).tags;
  }

  /**
   * Opens a zip file with the files of a Go module. Returns null for a module that Go refuses. Errors: TooManyRequests;
   * Unavailable.
   */
  openGoModule(request: SourceModuleRequest): Promise<Readable | null> {
    return this.askOrUnavailable(() => this.modules.open(request).catch(nullIfMissingOrTooLarge));
  }

  /** Rechecks the rights of the request before each call, because a call may wait for a free git process. */
  private async askOrUnavailable<T>(ask: () => Promise<T>): Promise<T> {
    await currentWaiter()?.rights?.recheckBeforeRead();
    try {
      return await ask();
    } catch (error) {
      if (error instanceof InternalRefusal && error.status === 429) throw tooManyArchivesRefusal(error);
      this.logger.warn({ err: error }, 'collaboration did not give source code');
      throw new Unavailable('collaboration away');
    }
  }
}

/** A module that Go refuses is missing, or its list of files is too large. */
function nullIfMissingOrTooLarge(error: unknown): null {
  if (error instanceof InternalRefusal && (error.status === 404 || error.status === 413)) return null;
  throw error;
}

/** The caller as collaboration counts archives. */
export function toArchiveRateLimitKey({ userId, address }: Viewer): string {
  return String(userId ?? address ?? '');
}

/** Returns the refusal that collaboration uses for too many archives. Its setting is not known here. */
function tooManyArchivesRefusal({ retryAfterSeconds }: InternalRefusal): TooManyRequests {
  const setting = 'REPOSITORY_ARCHIVES_PER_MINUTE_COUNT';
  const limit = { name: 'repository_archives', most: 0, each: 'moment', setting } as const;
  const text = 'This archive has been requested too many times. Try again later.';
  return new TooManyRequests(retryAfterSeconds ?? 60, limit, text);
}
