import { Inject, Injectable, Optional } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type { RepositoryFacts, RepositoryFactsAnswer } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { InternalKeys, LOGGER } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';
import { Pool } from 'undici';
import { identitySettings } from '../identity.config';

/** How collaboration is waited for. Units: ms. */
export interface CollaborationLimits {
  /** For an answer, connection included. */
  readonly answerMs: number;
  /** After a failure, while nobody waits again. */
  readonly restMs: number;
}

/** Where others than those below are told, as by tests on a slow machine. */
export const COLLABORATION_LIMITS_TOKEN = Symbol('collaboration limits');
const LIMITS: CollaborationLimits = { answerMs: 1000, restMs: 5000 };

/** The one question of identity to collaboration. Source: reference identity-and-import 8. */
@Injectable()
export class CollaborationClient implements OnModuleDestroy {
  private readonly pool: Pool;
  private readonly path: string;
  private readonly authorization: string;
  private restsUntil = 0;

  constructor(
    @Inject(identitySettings.token) settings: SettingsOf<typeof identitySettings>,
    @Inject(InternalKeys) keys: InternalKeys,
    @Inject(LOGGER) private readonly logger: Logger,
    @Optional() @Inject(COLLABORATION_LIMITS_TOKEN) private readonly limits: CollaborationLimits = LIMITS,
  ) {
    const url = new URL(settings.collaborationUrl);
    this.path = url.pathname.replace(/\/+$/, '') + INTERNAL_PATHS.repositoryFacts;
    this.pool = new Pool(url.origin, { connections: 4, pipelining: 1, connectTimeout: limits.answerMs });
    this.authorization = keys.authorization('identity', 'collaboration');
  }

  onModuleDestroy(): Promise<void> {
    return this.pool.destroy();
  }

  /** What is known of a project's repository; null when nothing is, or collaboration does not answer in time. */
  async repositoryOf(projectId: number): Promise<RepositoryFacts | null> {
    if (performance.now() < this.restsUntil) return null;
    try {
      const { projects } = await this.ask(projectId);
      return projects.find((facts) => facts.project_id === projectId) ?? null;
    } catch (error) {
      this.restsUntil = performance.now() + this.limits.restMs;
      this.logger.warn({ err: error }, 'collaboration does not say what it knows of repositories');
      return null;
    }
  }

  private async ask(projectId: number): Promise<RepositoryFactsAnswer> {
    const { statusCode, body } = await this.pool.request({
      method: 'POST',
      path: this.path,
      headers: {
        authorization: this.authorization,
        'content-type': 'application/json',
        'user-agent': 'rookery-identity',
      },
      body: JSON.stringify({ project_ids: [projectId] }),
      signal: AbortSignal.timeout(this.limits.answerMs),
    });
    if (statusCode === 200) return (await body.json()) as RepositoryFactsAnswer;
    await body.dump();
    throw new Error(`collaboration answered ${statusCode}`);
  }
}
