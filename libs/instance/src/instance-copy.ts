import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Follower, LOGGER, Readiness } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { AdminClient } from './admin-client';
import { Instance } from './instance';
import { KeptAnswers } from './kept-answers';

/** How long admin may hold a question while nothing changes. Units: ms. */
const WAIT_MS = 3000;
/** After this long without admin a process serves by what was kept. Units: ms. */
const PATIENCE_MS = 10_000;

/**
 * Keeps `Instance` as admin has it: one question is always under way, which admin answers once something changes. The
 * bus takes no part, so changes are as fast while it is down. Each answer is kept in the service's database, and a
 * process begins with that; one whose service has never heard of admin waits for it. Commands, and
 * processes of an estate without admin, go by the environment. Source: ADR 0180.
 */
@Injectable()
export class InstanceCopy implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly follower: Follower;
  private readonly startedAt = performance.now();
  private hasRecalled = false;
  private hasHeard = false;
  private keptVersion = NaN;

  constructor(
    @Inject(Instance) private readonly instance: Instance,
    @Inject(AdminClient) private readonly admin: AdminClient | null,
    @Inject(KeptAnswers) private readonly kept: KeptAnswers,
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(LOGGER) logger: Logger,
  ) {
    const turn = (signal: AbortSignal) => (admin ? this.turn(admin, signal) : Promise.resolve(false));
    this.follower = new Follower('the copy of features and settings', logger, turn);
  }

  /** What is kept is known before anybody is served; a database that is away is asked again by the first turn. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.admin) return;
    this.instance.forget();
    await this.recall().catch(() => undefined);
    this.readiness.require('instance', () => this.reasonToWait());
    this.follower.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.follower.stop();
    await this.admin?.close();
  }

  /** Admin being away must not keep others from starting, so the wait for it is bounded once it was heard of. */
  private reasonToWait(): string | null {
    if (!this.instance.isKnown) return 'admin was never asked for features and settings';
    const isPatient = performance.now() - this.startedAt <= PATIENCE_MS;
    return isPatient && !this.hasHeard ? 'admin was not asked for features and settings yet' : null;
  }

  private async recall(): Promise<void> {
    const kept = await this.kept.read();
    if (kept) this.instance.take(kept);
    this.hasRecalled = true;
  }

  /** Takes every answer, older ones too: after a restore of admin's database they are what counts. */
  private async turn(admin: AdminClient, signal: AbortSignal): Promise<boolean> {
    if (!this.hasRecalled) await this.recall();
    const before = this.instance.version;
    // A process that begins is not ready before it has heard, so admin must not hold its first question.
    const answer = await admin.instance(before, this.hasHeard ? WAIT_MS : 0, signal);
    this.instance.take(answer);
    this.hasHeard = true;
    if (this.keptVersion !== answer.version) await this.kept.keep(answer, before);
    this.keptVersion = answer.version;
    return answer.version !== before;
  }
}
