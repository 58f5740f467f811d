import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
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
import { InternalKeys, InternalRoute, LOGGER, platformSettings } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 10_000;
/** Time that the request keeps for its own work after the answer. Units: ms. */
const KEPT_MS = 500;
const CONNECTIONS = 8;

/** Client for the internal routes of collaboration that find commits of pipelines. Source: reference identity-and-import 7. */
@Injectable()
export class CollaborationClient implements OnModuleDestroy {
  private readonly refs: InternalRoute<ResolveRefRequest, ResolveRefAnswer>;
  private readonly mergeRequests: InternalRoute<MergeRequestHeadRequest, MergeRequestHeadAnswer>;
  private readonly stored: InternalRoute<PushVariablesStoredRequest, object>;
  private readonly pushes: InternalRoute<PushedPipelinesRequest, PushedPipelines>;

  constructor(
    @Inject(platformSettings.token) { collaborationUrl: url }: SettingsOf<typeof platformSettings>,
    @Inject(InternalKeys) keys: InternalKeys,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const common = { caller: 'package', callee: 'collaboration', url, keys, maxWaitMs: MAX_WAIT_MS } as const;
    const share = (leftMs: number): number => leftMs - KEPT_MS;
    this.refs = new InternalRoute({ ...common, path: INTERNAL_PATHS.resolveRef, connections: CONNECTIONS, share });
    this.mergeRequests = new InternalRoute({
      ...common,
      path: INTERNAL_PATHS.mergeRequestHead,
      connections: CONNECTIONS,
      share,
    });
    this.stored = new InternalRoute({ ...common, path: INTERNAL_PATHS.pushVariablesStored, connections: 1 });
    this.pushes = new InternalRoute({ ...common, path: INTERNAL_PATHS.pushedPipelines, connections: 1 });
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.refs.close(), this.mergeRequests.close(), this.stored.close(), this.pushes.close()]);
  }

  /**
   * Finds a commit by a branch, tag, full ref name or id. Shape: a null name is the default branch; null = no such
   * commit. Errors: Unavailable.
   */
  async resolve(request: ResolveRefRequest): Promise<ResolvedRef | null> {
    try {
      return (await this.refs.ask(request)).commit;
    } catch (error) {
      this.logger.warn({ err: error }, 'collaboration did not resolve a ref');
      throw new Unavailable('collaboration away');
    }
  }

  /** Finds the head of a merge request. Errors: Unavailable. */
  async headOf(request: MergeRequestHeadRequest): Promise<MergeRequestHeadAnswer> {
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
