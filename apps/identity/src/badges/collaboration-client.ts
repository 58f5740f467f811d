import { Inject, Injectable } from '@nestjs/common';
import type { RepositoryFacts, RepositoryFactsAnswer } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { InternalRoutes, LOGGER } from '@rookery/platform';
import type { InternalRouteClient, Logger } from '@rookery/platform';

/** Maximum wait for an answer. Badges can be rendered without it. Units: ms. */
const MAX_WAIT_MS = 5000;
/** Maximum wait as a fraction of the request's remaining time. */
const WAIT_FRACTION = 0.5;
/** Pause after a failure during which no request is sent. Units: ms. */
const PAUSE_MS = 30_000;
const CONNECTIONS = 4;

/** Client for the internal call from identity to collaboration. Source: reference identity-and-import 8. */
@Injectable()
export class CollaborationClient {
  private readonly route: InternalRouteClient<{ readonly project_ids: readonly number[] }, RepositoryFactsAnswer>;
  private pausedUntil = 0;

  constructor(
    routes: InternalRoutes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.route = routes.createClient('collaboration', INTERNAL_PATHS.repositoryFacts, {
      connections: CONNECTIONS,
      maxWaitMs: MAX_WAIT_MS,
      share: (leftMs) => leftMs * WAIT_FRACTION,
    });
  }

  /**
   * Returns facts about a project's repository. Returns null when collaboration has none or does not answer in time.
   */
  async findRepositoryFacts(projectId: number): Promise<RepositoryFacts | null> {
    if (performance.now() < this.pausedUntil) return null;
    try {
      const { projects } = await this.route.ask({ project_ids: [projectId] });
      return projects.find((facts) => facts.project_id === projectId) ?? null;
    } catch (error) {
      this.pausedUntil = performance.now() + PAUSE_MS;
      this.logger.warn({ err: error }, 'collaboration did not answer a request for repository facts');
      return null;
    }
  }
}
