import { Inject, Injectable } from '@nestjs/common';
import type {
  MergeRequestHeadAnswer,
  MergeRequestHeadRequest,
  PushedPipelines,
  PushedPipelinesRequest,
  PushVariablesStoredRequest,
  ResolvedRef,
  ResolveRefAnswer,
  ResolveRefRequest,
} from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { InternalRoutes, LOGGER } from '@rookery/platform';
import type { InternalRouteClient, Logger } from '@rookery/platform';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 10_000;
/** Time that the request keeps for its own work after the answer. Units: ms. */
const KEPT_MS = 500;
const CONNECTIONS = 8;

/** Client for the internal routes of collaboration that find commits of pipelines. Source: reference identity-and-import 7. */
@Injectable()
export class CollaborationClient {
  private readonly refs: InternalRouteClient<ResolveRefRequest, ResolveRefAnswer>;
  private readonly mergeRequests: InternalRouteClient<MergeRequestHeadRequest, MergeRequestHeadAnswer>;
  private readonly stored: InternalRouteClient<PushVariablesStoredRequest, object>;
  private readonly pushes: InternalRouteClient<PushedPipelinesRequest, PushedPipelines>;

  constructor(
    routes: InternalRoutes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const forRequests = {
      connections: CONNECTIONS,
      maxWaitMs: MAX_WAIT_MS,
      share: (leftMs: number): number => leftMs - KEPT_MS,
    };
    const forEvents = { connections: 1, maxWaitMs: MAX_WAIT_MS };
    this.refs = routes.createClient('collaboration', INTERNAL_PATHS.resolveRef, forRequests);
    this.mergeRequests = routes.createClient('collaboration', INTERNAL_PATHS.mergeRequestHead, forRequests);
    this.stored = routes.createClient('collaboration', INTERNAL_PATHS.pushVariablesStored, forEvents);
    this.pushes = routes.createClient('collaboration', INTERNAL_PATHS.pushedPipelines, forEvents);
  }

  /**
   * Finds a commit by a branch, tag, full ref name or id. A null name is the default branch; null = no such commit.
   * Errors: Unavailable.
   */
  async resolveRef(request: ResolveRefRequest): Promise<ResolvedRef | null> {
    try {
      return (await this.refs.ask(request)).commit;
    } catch (error) {
      this.logger.warn({ err: error }, 'collaboration did not resolve a ref');
      throw new Unavailable('collaboration away');
    }
  }

  /** Finds the head of a merge request. Errors: Unavailable. */
  async findHead(request: MergeRequestHeadRequest): Promise<MergeRequestHeadAnswer> {
    try {
      return await this.mergeRequests.ask(request);
    } catch (error) {
      this.logger.warn({ err: error }, 'collaboration did not find the head of a merge request');
      throw new Unavailable('collaboration away');
    }
  }

  /** Reports that the pipelines of a push have its variables, which collaboration forgets then. Errors: Unavailable. */
  async reportStoredVariables(id: number): Promise<void> {
    try {
      await this.stored.ask({ push_id: id });
    } catch (error) {
      this.logger.warn({ err: error, pushId: id }, 'collaboration did not forget the variables of a push');
      throw new Unavailable('collaboration away');
    }
  }

  /** Finds the pipelines that a push starts. Errors: Unavailable. */
  async pipelinesOfPush(id: number): Promise<PushedPipelines> {
    try {
      return await this.pushes.ask({ push_id: id });
    } catch (error) {
      this.logger.warn({ err: error, pushId: id }, 'collaboration did not name the pipelines of a push');
      throw new Unavailable('collaboration away');
    }
  }
}
