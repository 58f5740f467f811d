import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type { RepositoryFacts, RepositoryFactsAnswer } from '@rookery/contracts';
import { INTERNAL_PATHS, INTERNAL_WAIT_HEADER } from '@rookery/contracts';
import { currentWaiter, InternalKeys, KEPT_IDLE_MS, LOGGER } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';
import { Pool } from 'undici';
import { identitySettings } from '../identity.config';

/** Maximum wait for an answer. Badges can be rendered without it. Units: ms. */
const MAX_WAIT_MS = 5000;
/** Maximum wait as a fraction of the request's remaining time. */
const WAIT_FRACTION = 0.5;
/** Pause after a failure during which no request is sent. Units: ms. */
const PAUSE_MS = 30_000;

/** Client for the only internal call from identity to collaboration. Source: reference identity-and-import 8. */
@Injectable()
export class CollaborationClient implements OnModuleDestroy {
  private readonly pool: Pool;
  private readonly path: string;
  private readonly authorization: string;
  private pausedUntil = 0;

  constructor(
    @Inject(identitySettings.token) settings: SettingsOf<typeof identitySettings>,
    @Inject(InternalKeys) keys: InternalKeys,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const url = new URL(settings.collaborationUrl);
    this.path = url.pathname.replace(/\/+$/, '') + INTERNAL_PATHS.repositoryFacts;
    this.pool = new Pool(url.origin, {
      connections: 4,
      pipelining: 1,
      connectTimeout: MAX_WAIT_MS,
      keepAliveMaxTimeout: KEPT_IDLE_MS,
    });
    this.authorization = keys.authorization('identity', 'collaboration');
  }

  onModuleDestroy(): Promise<void> {
    return this.pool.destroy();
  }

  /** Returns facts about a project's repository. Shape: null when collaboration has none or does not answer in time. */
  async repositoryOf(projectId: number): Promise<RepositoryFacts | null> {
    if (performance.now() < this.pausedUntil) return null;
    try {
      const { projects } = await this.ask(projectId);
      return projects.find((facts) => facts.project_id === projectId) ?? null;
    } catch (error) {
      this.pausedUntil = performance.now() + PAUSE_MS;
      this.logger.warn({ err: error }, 'collaboration did not answer a request for repository facts');
      return null;
    }
  }

  private async ask(projectId: number): Promise<RepositoryFactsAnswer> {
    const leftMs = (currentWaiter()?.deadline ?? Infinity) - Date.now();
    const waitMs = Math.round(Math.max(1, Math.min(MAX_WAIT_MS, leftMs * WAIT_FRACTION)));
    const { statusCode, body } = await this.pool.request({
      method: 'POST',
      path: this.path,
      headers: {
        authorization: this.authorization,
        'content-type': 'application/json',
        'user-agent': 'rookery-identity',
        [INTERNAL_WAIT_HEADER]: String(waitMs),
      },
      body: JSON.stringify({ project_ids: [projectId] }),
      signal: AbortSignal.timeout(waitMs),
    });
    if (statusCode === 200) return (await body.json()) as RepositoryFactsAnswer;
    await body.dump();
    throw new Error(`collaboration answered ${statusCode}`);
  }
}
