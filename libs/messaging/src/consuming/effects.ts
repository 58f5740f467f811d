import { isObservable, lastValueFrom } from 'rxjs';
import { Injectable } from '@nestjs/common';
import type { EventDefinition } from '@rookery/contracts';
import { DeadLetters, Inbox, Work } from '@rookery/persistence';
import type { LetterRow, Tx } from '@rookery/persistence';
import { findHandlerFailure } from './consume';
import type { AnyBatch, DeliveredWith } from './consume';
import { decodeEvent } from './envelope';

/** A handler with the name of its effect, as the strategy collects it. */
export interface Effect {
  readonly name: string;
  readonly definition: EventDefinition;
  /** How long events may wait for others to share a transaction. */
  readonly gatherMs: number;
  /** Nest's callback around the controller's method. */
  readonly call: (batch: AnyBatch) => Promise<unknown>;
}

/** Deletes the row that counts an event's tries once the event succeeds. Only events held for a retry have one. */
export interface AttemptedEvent {
  readonly event: DeliveredWith<unknown>;
  readonly isRedelivered: boolean;
}

/** Runs effects once: inbox rows and effect in one transaction. Source: reference reliability 2.3. */
@Injectable()
export class Effects {
  constructor(
    private readonly work: Work,
    private readonly inbox: Inbox,
    private readonly letters: DeadLetters,
  ) {}

  /** Returns the number of new events. Errors: the handler's error; nothing was written then. */
  async runEffect(effect: Effect, attempted: readonly AttemptedEvent[]): Promise<number> {
    return this.work.run(async (tx) => {
      const byId = new Map(attempted.map(({ event }) => [event.id, event]));
      const fresh = await this.inbox.claimNew(tx, effect.name, [...byId.keys()]);
      const events = [...byId.values()].filter((event) => fresh.has(event.id));
      if (events.length > 0) await invokeHandler(effect, { tx, events });
      const again = attempted.filter((one) => one.isRedelivered).map((one) => one.event.id);
      if (again.length > 0) await this.letters.removeRecovered(tx, effect.name, again);
      return events.length;
    });
  }

  /** Runs the event of a dead letter through the inbox, like any delivery. Errors: the handler's error. */
  async replayLetter(effects: readonly Effect[], letter: LetterRow, tx: Tx): Promise<void> {
    const effect = effects.find((one) => one.name === letter.effect && one.definition.subject === letter.subject);
    if (!effect) throw new Error(`no effect ${letter.effect} on ${letter.subject} runs here`);
    const decoded = decodeEvent(letter.body, effect.definition);
    if (decoded.outcome !== 'event') throw new Error('problem' in decoded ? decoded.problem : 'not this event');
    const fresh = await this.inbox.claimNew(tx, effect.name, [decoded.event.id]);
    if (fresh.size > 0) await invokeHandler(effect, { tx, events: [decoded.event] });
  }
}

/** Calls the handler through Nest and rethrows its original error. */
async function invokeHandler(effect: Effect, batch: AnyBatch): Promise<void> {
  const result = await effect.call(batch);
  // Guards, pipes and interceptors of Nest fail as an errored Observable, which must be awaited or it is lost.
  if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
  const failure = findHandlerFailure(batch);
  if (failure) throw failure.error;
}
