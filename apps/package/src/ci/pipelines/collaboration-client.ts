import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type { ResolvedRef, ResolveRefAnswer, ResolveRefRequest } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { InternalKeys, InternalRoute, LOGGER, platformSettings } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 10_000;
/** Time that the request keeps for its own work after the answer. Units: ms. */
const KEPT_MS = 500;
const CONNECTIONS = 8;

/** Client for the internal route of collaboration that finds commits. Source: reference identity-and-import 7. */
@Injectable()
export class CollaborationClient implements OnModuleDestroy {
  private readonly route: InternalRoute<ResolveRefRequest, ResolveRefAnswer>;

  constructor(
    @Inject(platformSettings.token) { collaborationUrl: url }: SettingsOf<typeof platformSettings>,
    @Inject(InternalKeys) keys: InternalKeys,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.route = new InternalRoute({
      ...{ caller: 'package', callee: 'collaboration', url, keys, path: INTERNAL_PATHS.resolveRef },
      ...{ connections: CONNECTIONS, maxWaitMs: MAX_WAIT_MS },
      share: (leftMs) => leftMs - KEPT_MS,
    });
  }

  onModuleDestroy(): Promise<void> {
    return this.route.close();
  }

  /**
   * Finds a commit by a branch, tag, full ref name or id. Shape: a null name is the default branch; null = no such
   * commit. Errors: Unavailable.
   */
  async resolve(request: ResolveRefRequest): Promise<ResolvedRef | null> {
    try {
      return (await this.route.ask(request)).commit;
    } catch (error) {
      this.logger.warn({ err: error }, 'collaboration did not resolve a ref');
      throw new Unavailable('collaboration away');
    }
  }
}
