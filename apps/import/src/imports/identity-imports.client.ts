import { Inject, Injectable } from '@nestjs/common';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type {
  ImportProjectAnswer,
  ImportProjectRequest,
  ImportStateAnswer,
  ImportStateRequest,
  ImportTargetAnswer,
  ImportTargetRequest,
} from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { InternalRefusal, InternalRoutes, LOGGER } from '@rookery/platform';
import type { InternalRouteClient, Logger } from '@rookery/platform';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 10_000;
const CONNECTIONS = 4;
const PAYLOAD_TOO_LARGE = 413;

/** Client for the internal routes of identity about imports. Errors: Unavailable. Source: reference identity-and-import 6. */
@Injectable()
export class IdentityImportsClient {
  private readonly targets: InternalRouteClient<ImportTargetRequest, ImportTargetAnswer>;
  private readonly projects: InternalRouteClient<ImportProjectRequest, ImportProjectAnswer>;
  private readonly states: InternalRouteClient<ImportStateRequest, ImportStateAnswer>;

  constructor(
    routes: InternalRoutes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const limits = { connections: CONNECTIONS, maxWaitMs: MAX_WAIT_MS };
    this.targets = routes.createClient('identity', INTERNAL_PATHS.importTarget, limits);
    this.projects = routes.createClient('identity', INTERNAL_PATHS.importProject, limits);
    this.states = routes.createClient('identity', INTERNAL_PATHS.importState, limits);
  }

  /** Checks whether a user may import into a namespace. */
  findTarget(request: ImportTargetRequest): Promise<ImportTargetAnswer> {
    return this.askOrUnavailable(() => this.targets.ask(request));
  }

  /** Creates the project of an import, once. */
  createProject(request: ImportProjectRequest): Promise<ImportProjectAnswer> {
    return this.askOrUnavailable(() => this.projects.ask(request).catch(toImportTooLargeAnswer));
  }

  /** Reports the state of an import. */
  recordState(request: ImportStateRequest): Promise<ImportStateAnswer> {
    return this.askOrUnavailable(() => this.states.ask(request));
  }

  private async askOrUnavailable<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      this.logger.warn({ err: error }, 'identity did not answer a question about an import');
      throw new Unavailable('identity away');
    }
  }
}

/** Identity does not read a request that is too large, so it has not created the project. Errors: all others. */
function toImportTooLargeAnswer(error: unknown): ImportProjectAnswer {
  if (!(error instanceof InternalRefusal) || error.status !== PAYLOAD_TOO_LARGE) throw error;
  return { outcome: 'invalid', problems: ['The fields of the repository are too long'] };
}
