import { setTimeout as pause } from 'node:timers/promises';
import type { DirectoryChangesAnswer } from '@rookery/contracts';
import { backoffMs } from '@rookery/kernel';
import type { Logger } from '@rookery/platform';
import type { DirectoryMark } from '../request/caller';
import type { DirectoryFloor } from './directory-floor';
import type { IdentityClient } from './identity-client';
import type { TokenLeases } from './token-leases';

const WAIT_MS = 20_000;
/** Units: ms. */
const RETRY = { first: 50, most: 1000 };
/** Time in which processes that start together become reachable. Units: milliseconds. */
const STARTUP_MS = 20_000;

/**
 * Follows identity's change log by long-poll, so that leases end at once when a token or user changes. Without a
 * connection, leases still expire. Source: ADR 0042, 0050.
 */
export class DirectoryWatch {
  private readonly stopping = new AbortController();
  private cursor: DirectoryMark | null = null;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly identity: IdentityClient,
    private readonly floor: DirectoryFloor,
    private readonly leases: TokenLeases,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.followChanges();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async followChanges(): Promise<void> {
    let failures = 0;
    let isWarned = false;
    const begunAt = performance.now();
    while (!this.stopping.signal.aborted) {
      try {
        this.cursor ??= await this.readStartCursor();
        const answer = await this.identity.fetchChanges(this.cursor, WAIT_MS, this.stopping.signal);
        this.cursor = this.applyChanges(answer, this.cursor);
        failures = 0;
        isWarned = false;
      } catch (err) {
        if (this.stopping.signal.aborted) return;
        const isStarting = this.cursor === null && performance.now() - begunAt < STARTUP_MS;
        failures += 1;
        const pauseMs = backoffMs(failures, RETRY);
        if (pauseMs === RETRY.most && !isStarting && !isWarned) {
          this.logger.warn({ err }, 'identity cannot be followed');
          isWarned = true;
        }
        await pause(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      }
    }
  }

  /** Starts from the current position. Earlier leases are dropped, since no push would end them. */
  private async readStartCursor(): Promise<DirectoryMark> {
    const head = await this.identity.resolveToken({ digest: null, ip: null }, Date.now() + WAIT_MS);
    this.leases.clear();
    this.floor.observe(head, Date.now());
    return { version: head.version, epoch: head.epoch };
  }

  private applyChanges(answer: DirectoryChangesAnswer, cursor: DirectoryMark): DirectoryMark {
    if (answer.epoch !== cursor.epoch) {
      this.leases.clear();
      this.floor.observe({ version: answer.head, epoch: answer.epoch }, Date.now());
      return { version: answer.head, epoch: answer.epoch };
    }
    // Entries after the cursor may have been merged into later ones: every lease may be outdated.
    let changedRights = answer.compactedTo > cursor.version;
    if (changedRights) this.leases.clear();
    for (const { kind, id } of answer.changes) {
      if (kind === 'token') this.leases.dropToken(id);
      else if (kind === 'user') this.leases.dropUser(id);
      else continue;
      changedRights = true;
    }
    this.floor.observe({ version: answer.head, epoch: answer.epoch }, Date.now());
    this.floor.push(answer.upTo, changedRights);
    return { version: answer.upTo, epoch: answer.epoch };
  }
}
