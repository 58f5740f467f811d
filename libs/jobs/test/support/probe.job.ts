import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { int, object } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { defineJob, Job } from '../../src';
import type { JobRun } from '../../src';

const item = object({ item_id: int });

export const plain = defineJob('plain', item);
export const failing = defineJob('failing', item, { tries: 3 });
export const replaced = defineJob('replaced', item, { key: ({ item_id: id }) => `${id % 10}` });
export const kept = defineJob('kept', item, { key: ({ item_id: id }) => `${id % 10}`, whenWaiting: 'keep' });
export const serial = defineJob('serial', item, { queue: 'serial' });
export const lasting = defineJob('lasting', item, { tries: 2 });
export const stubborn = defineJob('stubborn', item, { key: () => 'one', tries: 3 });

/** Jobs that leave marks; tests set what they wait for and whether they fail. */
@Injectable()
export class ProbeJob {
  static poison = new Set<number>();
  static gate: Promise<void> = Promise.resolve();
  static heedsSignal = true;
  /** Called when the signal of a running job is aborted. */
  static onAbort = (): void => undefined;

  static reset(): void {
    this.poison.clear();
    this.gate = Promise.resolve();
    this.heedsSignal = true;
    this.onAbort = () => undefined;
  }

  constructor(@Inject(Work) private readonly work: Work) {}

  @Job(plain)
  async plain({ params }: JobRun<typeof plain>): Promise<void> {
    await this.mark('plain', String(params.item_id));
  }

  @Job(failing)
  async failing({ params, attempt }: JobRun<typeof failing>): Promise<void> {
    await this.mark('failing', `${params.item_id} ${attempt}`);
    if (ProbeJob.poison.has(params.item_id)) throw new Error(`item ${params.item_id} is poison`);
  }

  @Job(replaced)
  async replaced({ params }: JobRun<typeof replaced>): Promise<void> {
    await this.mark('replaced', String(params.item_id));
    await ProbeJob.gate;
  }

  @Job(kept)
  async kept({ params }: JobRun<typeof kept>): Promise<void> {
    await this.mark('kept', String(params.item_id));
  }

  @Job(serial)
  async serial({ params }: JobRun<typeof serial>): Promise<void> {
    await this.mark('serial', `begin ${params.item_id}`);
    await pause(20);
    await this.mark('serial', `end ${params.item_id}`);
  }

  /** Processes a hundred parts, until it is interrupted. */
  @Job(lasting)
  async lasting({ params, signal, attempt, progress }: JobRun<typeof lasting>): Promise<void> {
    await this.mark('lasting', `${params.item_id} ${attempt}`);
    signal.addEventListener('abort', () => ProbeJob.onAbort());
    for (let part = 1; part <= 100; part += 1) {
      await progress(part, 100, 'counting');
      if (ProbeJob.heedsSignal) signal.throwIfAborted();
      if (part >= 50) await ProbeJob.gate;
    }
    await this.mark('lasting', 'done');
  }

  @Job(stubborn)
  async stubborn({ params }: JobRun<typeof stubborn>): Promise<void> {
    await this.mark('stubborn', String(params.item_id));
    await ProbeJob.gate;
    if (ProbeJob.poison.has(params.item_id)) throw new Error('stubborn');
  }

  private async mark(job: string, what: string): Promise<void> {
    await this.work.run((tx) => tx.query('insert into marks (job, what) values ($1, $2)', [job, what]));
  }
}

@Injectable()
export class EveryMinuteJob {
  constructor(@Inject(Work) private readonly work: Work) {}

  @Job('every-minute', { cron: '* * * * *' })
  async run({ dueAt }: { readonly dueAt: Date }): Promise<void> {
    const values = ['every-minute', dueAt.toISOString()];
    await this.work.run((tx) => tx.query('insert into marks (job, what) values ($1, $2)', values));
  }
}
