import { Injectable } from '@nestjs/common';
import type { RefUpdate, Repository } from '@rookery/git';
import type { Tx } from '@rookery/persistence';
import type { PushSource } from './push.entity';

/** Ref updates that git made, as the settlement of their push sees them. */
export interface SettledUpdates {
  readonly repository: Repository;
  readonly pushId: number;
  readonly projectId: number;
  /** Null after the user was removed. */
  readonly userId: number | null;
  readonly pushedAt: Date;
  readonly source: PushSource;
  /** Stored push options. */
  readonly options: readonly string[];
  readonly updates: readonly RefUpdate[];
  /** Branch of `HEAD`; null while the repository has none. */
  readonly defaultBranch: string | null;
}

/** Writes that an effect has prepared before the transaction. */
export interface PreparedEffect {
  /** Writes the consequences in the transaction that settles the push. */
  write(tx: Tx): Promise<void>;
  /**
   * Runs after the commit, before the client gets its answer. A failure does not fail the push. Returns texts that git
   * shows after the push.
   */
  finish?(): Promise<readonly string[] | void>;
}

/** Consequence of ref updates in a module that repositories do not know: a version of a merge request, a closed issue. */
export interface RefUpdateEffect {
  /** Reads git and the database. Returns null if the updates have no consequence here. */
  prepare(settled: SettledUpdates): Promise<PreparedEffect | null>;
}

/**
 * Effects that wings above declare. They commit together with the settlement of their push, so each acknowledged push
 * has all of its consequences, once. Source: ADR 0185.
 */
@Injectable()
export class RefUpdateEffects {
  private readonly effects: RefUpdateEffect[] = [];
  private readonly last: RefUpdateEffect[] = [];

  /** Adds an effect at start-up. An effect with the order `last` writes after the others, in the same transaction. */
  declare(effect: RefUpdateEffect, order: 'any' | 'last' = 'any'): void {
    (order === 'last' ? this.last : this.effects).push(effect);
  }

  async prepare(settled: SettledUpdates): Promise<PreparedEffect[]> {
    if (settled.updates.length === 0) return [];
    const prepared: PreparedEffect[] = [];
    for (const effect of [...this.effects, ...this.last]) {
      const one = await effect.prepare(settled);
      if (one) prepared.push(one);
    }
    return prepared;
  }
}
