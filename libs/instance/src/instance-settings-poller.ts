import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Follower, LOGGER, Readiness } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { AdminClient } from './admin-client';
import { InstanceSettings } from './instance';
import { InstanceAnswerStore } from './instance-answer-store';

/** How long admin may hold a request while nothing changes. Units: ms. */
const WAIT_MS = 3000;
/** Without an answer of admin for this long, a process becomes ready with the stored settings. Units: ms. */
const PATIENCE_MS = 10_000;

/**
 * Keeps `InstanceSettings` current by long-polling admin. The bus takes no part, so changes arrive as fast while it is down. Each
 * answer is stored in the service's database, and a process starts with the stored one; a service without a stored answer
 * waits for admin. Commands, and processes of an estate without admin, use the environment. Source: ADR 0180.
 */
@Injectable()
export class InstanceSettingsPoller implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly follower: Follower;
  private readonly startedAt = performance.now();
  private hasRecalled = false;
  private hasHeard = false;
  private keptVersion = NaN;

  constructor(
    @Inject(InstanceSettings) private readonly instance: InstanceSettings,
    @Inject(AdminClient) private readonly admin: AdminClient | null,
    @Inject(InstanceAnswerStore) private readonly kept: InstanceAnswerStore,
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(LOGGER) logger: Logger,
  ) {
    const turn = (signal: AbortSignal) => (admin ? this.fetchAndApplyAnswer(admin, signal) : Promise.resolve(false));
    this.follower = new Follower('the copy of features and settings', logger, turn);
  }

  /** Loads the stored settings before the first request is served; if the database is down, the first turn tries again. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.admin) return;
    this.instance.forgetAnswer();
    await this.applyKeptAnswer().catch(() => undefined);
    this.readiness.addCheck('instance', () => this.reasonNotReady());
    this.follower.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.follower.stop();
    await this.admin?.close();
  }

  /** Bounds the wait for admin when settings are stored: an outage of admin must not keep other services from starting. */
  private reasonNotReady(): string | null {
    if (!this.instance.isKnown) return 'admin was never asked for features and settings';
    const isPatient = performance.now() - this.startedAt <= PATIENCE_MS;
    return isPatient && !this.hasHeard ? 'admin was not asked for features and settings yet' : null;
  }

  private async applyKeptAnswer(): Promise<void> {
    const kept = await this.kept.readAnswer();
    if (kept) this.instance.applyAnswer(kept);
    this.hasRecalled = true;
  }

  /**
   * Asks admin once for the settings and takes them, also those of a lower version: a restored database of admin has a
   * lower version, which is then the current one.
   */
  private async fetchAndApplyAnswer(admin: AdminClient, signal: AbortSignal): Promise<boolean> {
    if (!this.hasRecalled) await this.applyKeptAnswer();
    const before = this.instance.version;
    // A process is not ready before its first answer, so admin must not hold that request.
    const answer = await admin.fetchInstance(before, this.hasHeard ? WAIT_MS : 0, signal);
    this.instance.applyAnswer(answer);
    this.hasHeard = true;
    if (this.keptVersion !== answer.version) await this.kept.keepAnswer(answer, before);
    this.keptVersion = answer.version;
    return answer.version !== before;
  }
}
