import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type {
  PushedPipelines,
  PushedPipelinesRequest,
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

/** Client for the internal routes of collaboration that find commits. Source: reference identity-and-import 7. */
@Injectable()
export class CollaborationClient implements OnModuleDestroy {
  private readonly refs: InternalRoute<ResolveRefRequest, ResolveRefAnswer>;
  private readonly pushes: InternalRoute<PushedPipelinesRequest, PushedPipelines>;

  constructor(
    @Inject(platformSettings.token) { collaborationUrl: url }: SettingsOf<typeof platformSettings>,
    @Inject(InternalKeys) keys: InternalKeys,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const common = { caller: 'package', callee: 'collaboration', url, keys, maxWaitMs: MAX_WAIT_MS } as const;
    this.refs = new InternalRoute({
      ...common,
      path: INTERNAL_PATHS.resolveRef,
      connections: CONNECTIONS,
      share: (leftMs) => leftMs - KEPT_MS,
    });
    this.pushes = new InternalRoute({ ...common, path: INTERNAL_PATHS.pushedPipelines, connections: 1 });
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.refs.close(), this.pushes.close()]);
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
