import { Inject, Injectable } from '@nestjs/common';
import type { RunningJobAnswer, RunningJobRequest } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { InternalRoutes, LOGGER } from '@rookery/platform';
import type { InternalRouteClient, Logger } from '@rookery/platform';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 5000;
/** Connections to package. Each request by the token of a job needs one for a moment. */
const CONNECTIONS = 8;

/** Client for the internal route of package that knows running jobs. Source: ADR 0190. */
@Injectable()
export class PackageClient {
  private readonly route: InternalRouteClient<RunningJobRequest, RunningJobAnswer>;

  constructor(
    routes: InternalRoutes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.route = routes.createClient('package', INTERNAL_PATHS.runningJob, {
      connections: CONNECTIONS,
      maxWaitMs: MAX_WAIT_MS,
    });
  }

  /** Returns the job of a token if it runs now, else null. Errors: Unavailable. */
  async runningJob(question: RunningJobRequest): Promise<RunningJobAnswer['job']> {
    try {
      return (await this.route.ask(question)).job;
    } catch (error) {
      this.logger.warn({ err: error }, 'package did not answer whether a job runs');
      throw new Unavailable('package away');
    }
  }
}
