import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { SourceArchiveRequest, SourceFileAnswer, SourceFileRequest } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { InternalRoutes, LOGGER } from '@rookery/platform';
import type { InternalRoute, Logger } from '@rookery/platform';

/** Maximum wait for an answer, or for the beginning of an archive. Units: ms. */
const MAX_WAIT_MS = 15_000;
/** Time that the request keeps for its own work after the answer. Units: ms. */
const KEPT_MS = 500;

/**
 * Files and archives of repositories, for registries that publish commits. Callers check that the viewer may read the code
 * of the project. Source: ADR 0205.
 */
@Injectable()
export class SourceCode {
  private readonly files: InternalRoute<SourceFileRequest, SourceFileAnswer>;
  private readonly archives: InternalRoute<SourceArchiveRequest, never>;

  constructor(
    routes: InternalRoutes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const limits = { maxWaitMs: MAX_WAIT_MS, share: (leftMs: number): number => leftMs - KEPT_MS };
    this.files = routes.to('collaboration', INTERNAL_PATHS.sourceFile, { ...limits, connections: 4 });
    this.archives = routes.to('collaboration', INTERNAL_PATHS.sourceArchive, { ...limits, connections: 16 });
  }

  /** Reads a file at a ref, and keeps the commit for ever if the file exists. Errors: Unavailable. */
  readFile(request: SourceFileRequest): Promise<SourceFileAnswer> {
    return this.orUnavailable(this.files.ask(request));
  }

  /** Opens an archive of a commit. Shape: a zip file. Errors: Unavailable. */
  openArchive(request: SourceArchiveRequest): Promise<Readable> {
    return this.orUnavailable(this.archives.open(request));
  }

  private async orUnavailable<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.logger.warn({ err: error }, 'collaboration did not give source code');
      throw new Unavailable('collaboration away');
    }
  }
}
