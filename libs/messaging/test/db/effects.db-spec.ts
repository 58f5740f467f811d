import type { Type } from '@nestjs/common';
import { Unavailable } from '@rookery/kernel';
import { DeadLetters } from '@rookery/persistence';
import { Metrics } from '@rookery/platform';
import type { PrivateNats, TestDatabase } from '@rookery/testing';
import { startNats, until, untilBlocked } from '@rookery/testing';
import { connect, headers } from 'nats';
import type { NatsConnection } from 'nats';
import { Client } from 'pg';
import { uuidv7 } from 'uuidv7';
import { envelopeText } from '../../src/consuming/envelope';
import { waitForDatabaseHistoryCheck } from '../../src/relay/history-check';
import { republishEvents } from '../../src/relay/republish.command';
import { CountNotesConsumer, GatherNotesConsumer, MarkNotesConsumer } from '../support/mark-notes.consumer';
import { newDatabase, newProcess, note, range } from '../support/service';
import type { TestProcess } from '../support/service';

const SUBJECT = 'collaboration.note.deleted.v1';
const DURABLE = 'collaboration--mark-notes--note-deleted-v1';
const GATHERING = 'collaboration--gather-notes--note-deleted-v1';

describe('effects of events', () => {
  let nats: PrivateNats;
  let bus: NatsConnection;
  let test: TestDatabase;
  const processes: TestProcess[] = [];

  const process = async (settings?: Record<string, string>, other: Type = CountNotesConsumer) => {
    const consumers = [MarkNotesConsumer, other];
    const made = await newProcess({ databaseUrl: test.url, natsUrl: nats.url, consumers, settings: settings ?? {} });
    processes.push(made);
    return made;
  };
  /** Sends a message that no relay would send. */
  const send = async (body: string, msgID?: string) => {
    const fields = headers();
    if (msgID) fields.set('Nats-Msg-Id', msgID);
    await bus.jetstream({ timeout: 50_000 }).publish(SUBJECT, body, { headers: fields });
  };
  const envelope = (noteId: number, over: Record<string, unknown> = {}) => {
    const event = note(noteId);
    const text = envelopeText(
      {
        id: 0,
        event_id: uuidv7(),
        aggregate_type: 'note',
        aggregate_id: noteId,
        subject: SUBJECT,
        type: event.definition.type,
        occurred_at: new Date(),
        actor_id: 7,
        traceparent: null,
        directory_version: null,
        directory_epoch: null,
        generation: 0,
        payload: JSON.stringify(event.data),
      },
      '/rookery/collaboration',
    );
    return JSON.stringify({ ...(JSON.parse(text) as object), ...over });
  };
  const pendingAcks = async (durable = DURABLE) => {
    const { num_ack_pending, num_pending } = await (
      await bus.jetstreamManager({ timeout: 50_000 })
    ).consumers.info('COLLABORATION', durable);
    return num_ack_pending + num_pending;
  };
  const consumersReady = (one: TestProcess) =>
    until(async () => {
      const manager = await bus.jetstreamManager({ timeout: 50_000 });
      const names = (
        await manager.consumers
          .list('COLLABORATION')
          .next()
          .catch(() => [])
      ).map((info) => info.name);
      return one.broker.isConnected && names.length === 2;
    }, 'both durables');

  beforeAll(async () => {
    nats = await startNats();
    bus = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  });
  afterAll(async () => {
    await bus.close();
    await nats.drop();
  });
  beforeEach(async () => {
    MarkNotesConsumer.reset();
    test = await newDatabase();
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((one) => one.stop()));
    await test.drop();
    const manager = await bus.jetstreamManager({ timeout: 50_000 });
    await manager.streams.delete('COLLABORATION').catch(() => undefined);
  });

  it('happen once each for every effect, in batches, and are acknowledged', async () => {
    const one = await process();
    await one.emit(...range(300));
    await one.start();
    await until(async () => (await one.marks()).length >= 300 && (await one.marks('count-notes')).length >= 300);
    await until(async () => (await pendingAcks()) === 0, 'all acknowledged');
    await expect(one.marks()).resolves.toEqual(range(300));
    await expect(one.marks('count-notes')).resolves.toEqual(range(300));
    await expect(one.count('inbox')).resolves.toBe(600);
    const [{ most }] = (await one.database.query('select max(batch) as most from marks')) as [{ most: number }];
    expect(most).toBeGreaterThan(1);
  });

  it('share a transaction when no user waits for them, and are given back when the process ends', async () => {
    const one = await process({ CONSUMER_BATCH_COUNT: '3' }, GatherNotesConsumer);
    await one.start({ relay: true, consumers: true });
    await consumersReady(one);
    const arrives = async (id: number) => {
      await one.emit(id);
      await until(async () => (await one.marks()).includes(id));
    };
    for (const id of [1, 2, 3]) await arrives(id);
    await until(async () => (await one.marks('gather-notes')).length === 3, 'a full batch');
    expect(await one.count('marks', `effect = 'gather-notes' and batch = 3`)).toBe(3);
    await arrives(4);
    await one.stop();
    processes.length = 0;
    const two = await process({ CONSUMER_BATCH_COUNT: '1' }, GatherNotesConsumer);
    expect(await two.marks('gather-notes')).toEqual([1, 2, 3]);
    await two.start();
    await until(async () => (await two.marks('gather-notes')).length === 4, 'what was handed back');
  });

  /** While `work` runs, no mark is written. */
  const whileHeld = async (work: () => Promise<void>) => {
    const holder = new Client({ connectionString: test.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('lock table marks in exclusive mode');
      await work();
    } finally {
      await holder.end();
    }
  };

  it('that arrive during a batch wait for others too', async () => {
    const one = await process({ CONSUMER_BATCH_COUNT: '3' }, GatherNotesConsumer);
    await one.start({ relay: true, consumers: true });
    await consumersReady(one);
    await whileHeld(async () => {
      await one.emit(1, 2, 3);
      await untilBlocked((sql) => one.database.query(sql), 2);
      await one.emit(4);
      await until(async () => (await pendingAcks(GATHERING)) === 4);
    });
    await until(async () => (await one.marks()).length === 4);
    await until(async () => (await pendingAcks(GATHERING)) === 1);
    await one.emit(5, 6);
    await until(async () => (await one.marks('gather-notes')).length === 6);
    expect(await one.count('marks', `effect = 'gather-notes' and batch = 3`)).toBe(6);
  });

  it('that follow a batch of several shortly after form another batch', async () => {
    const one = await process();
    await one.start({ relay: true, consumers: true });
    await consumersReady(one);
    await whileHeld(async () => {
      await one.emit(1);
      await untilBlocked((sql) => one.database.query(sql), 2);
      await one.emit(2, 3);
      await until(async () => (await pendingAcks()) === 3);
    });
    await until(async () => (await one.marks()).length === 3);
    await one.emit(4);
    await until(async () => (await one.marks()).length === 4);
    const rows = await one.database.query<{ note_id: number; batch: number; ms: number }>(
      `select note_id::integer, batch, (extract(epoch from at) * 1000)::float as ms from marks
       where effect = 'mark-notes' order by note_id`,
    );
    expect(rows.map(({ batch }) => batch)).toEqual([1, 2, 2, 1]);
    expect(rows[3]!.ms - rows[2]!.ms).toBeGreaterThanOrEqual(50);
  });

  it('happen once when every message is delivered three times', async () => {
    const one = await process();
    await one.start({ relay: true });
    await consumersReady(one);
    const bodies = range(100).map((id) => envelope(id));
    for (const copy of range(3)) await Promise.all(bodies.map((body, at) => send(body, `${copy}-${at}`)));
    await until(async () => (await pendingAcks()) === 0, 'all acknowledged');
    await until(async () => (await one.marks('count-notes')).length >= 100);
    await expect(one.marks()).resolves.toEqual(range(100));
    await expect(one.marks('count-notes')).resolves.toEqual(range(100));
    const text = (await one.get(Metrics).text()).body;
    expect(text).toContain('rookery_inbox_absorbed_total{effect="mark-notes"} 200');
  });

  it('happen once when two processes consume, and when one dies between commit and acknowledgement', async () => {
    const [one, two] = [await process(), await process()];
    let deaths = 0;
    one.faults.setStep('consumer.before-ack', () => {
      deaths += 1;
      throw new Error('dead before the acknowledgement');
    });
    await one.start();
    await one.emit(...range(40));
    await until(() => deaths > 0);
    await one.stop();
    processes.splice(0, 1);
    await two.start();
    await two.emit(...range(40, 41));
    await until(async () => (await two.marks()).length >= 80 && (await two.marks('count-notes')).length >= 80);
    // nats-server 2.9 may keep one message that was given back without a receiver until the acknowledgement wait is over.
    await until(async () => (await pendingAcks()) <= 1, 'all but one acknowledged');
    await until(async () => {
      const { body } = await two.get(Metrics).text();
      return Number(/rookery_inbox_absorbed_total\{effect="mark-notes"\} (\d+)/.exec(body)?.[1]) > 0;
    }, 'an effect that was there already');
    await expect(two.marks()).resolves.toEqual(range(80));
    await expect(two.marks('count-notes')).resolves.toEqual(range(80));
  });

  it('of 999 events are not delayed by a poison one, which becomes a dead letter and one effect when replayed', async () => {
    const one = await process();
    MarkNotesConsumer.poison.add(500);
    await one.start();
    await consumersReady(one);
    for (const first of range(10)) await one.emit(...range(100, (first - 1) * 100 + 1));
    // It takes 5 s on a busy machine; a delayed event would wait for an acknowledgement, which takes 30 s.
    await until(async () => (await one.marks()).length === 999, 'all others', 25_000);
    await until(async () => (await one.count('dead_letters', `state = 'open'`)) === 1);
    await until(async () => (await pendingAcks()) === 0, 'the poison terminated');
    const letters = one.get(DeadLetters);
    const [letter] = await letters.listLetters({});
    expect(letter).toMatchObject({
      effect: 'mark-notes',
      subject: SUBJECT,
      reason: 'failed',
      attempts: 8,
      state: 'open',
    });
    expect(letter!.error).toContain('note 500 is poison');
    expect(letter!.headers['Nats-Msg-Id']).toBe(letter!.event_id);

    // Not repaired yet: the replay fails and the letter is open again.
    await letters.requestReplay({ ids: [letter!.id], by: 'root', reason: null });
    await until(async () => (await letters.findLetter(letter!.id))?.attempts === 9);
    expect((await letters.findLetter(letter!.id))?.state).toBe('open');

    MarkNotesConsumer.poison.clear();
    await expect(letters.requestReplay({ by: 'root', reason: 'repaired' })).resolves.toEqual([letter!.id]);
    await until(async () => (await letters.findLetter(letter!.id))?.state === 'replayed');
    await expect(letters.findLetter(letter!.id)).resolves.toMatchObject({
      settled_by: 'root',
      settled_reason: 'repaired',
    });
    await expect(one.marks()).resolves.toEqual(range(1000));
    await expect(letters.requestReplay({ ids: [letter!.id], by: 'root', reason: null })).resolves.toEqual([]);

    // A letter whose event succeeded meanwhile does not cause a second effect.
    await one.database.query(`update dead_letters set state = 'open', settled_at = null`);
    await letters.requestReplay({ by: 'root', reason: 'once more' });
    await until(async () => (await letters.findLetter(letter!.id))?.state === 'replayed');
    await expect(one.marks()).resolves.toEqual(range(1000));
  });

  it('have their tries counted across replicas, until they succeed', async () => {
    // Enough tries that it cannot become a dead letter before the test reads it.
    const one = await process({ CONSUMER_RETRY_DELAYS_MS: Array(5000).fill('20').join(',') });
    MarkNotesConsumer.poison.add(1);
    await one.start();
    await one.emit(1, 2);
    await until(async () => (await one.count('dead_letters', `state = 'retrying' and attempts >= 2`)) === 1);
    MarkNotesConsumer.poison.clear();
    await until(async () => (await one.marks()).length === 2);
    await until(async () => (await one.count('dead_letters')) === 0);
  });

  it('wait without counting while another part is down', async () => {
    const one = await process();
    MarkNotesConsumer.isAway = true;
    await one.start();
    await one.emit(1, 2);
    await until(() => MarkNotesConsumer.calls >= 4);
    await expect(one.count('dead_letters')).resolves.toBe(0);
    MarkNotesConsumer.isAway = false;
    await until(async () => (await one.marks()).length === 2);
    await expect(one.count('dead_letters')).resolves.toBe(0);
  });

  it('go on after the database ended every connection', async () => {
    const one = await process();
    await one.start();
    for (const round of range(5)) {
      const ids = range(20, (round - 1) * 20 + 1);
      // A connection whose end has not been noticed yet fails at its first statement, before anything is written.
      await until(() =>
        one.emit(...ids).then(
          () => true,
          (error) => {
            if (error instanceof Unavailable) return false;
            throw error;
          },
        ),
      );
      // Each end is waited for: a connection that lives on for a moment might end between a commit and its answer.
      await one.database
        .query(
          `select pg_terminate_backend(pid, 50000) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
        )
        .catch(() => undefined);
    }
    await until(async () => (await one.marks().catch(() => [])).length >= 100);
    await until(async () => (await one.count('outbox', 'published_at is null').catch(() => 1)) === 0);
    await expect(one.marks()).resolves.toEqual(range(100));
    await expect(one.count('dead_letters')).resolves.toBe(0);
  });

  it('become dead letters when they are unreadable, and are ignored when not subscribed to', async () => {
    const one = await process();
    await one.start();
    await consumersReady(one);
    await send('{ not json');
    await send('\0\u0001');
    await send(envelope(1, { data: { note_id: 'one' } }));
    await send(envelope(2, { type: 'rookery.collaboration.note.deleted.v2' }));
    await send(envelope(3, { type: 'rookery.collaboration.note.renamed.v1' }));
    await send(envelope(4, { data: { ...note(4).data, added_later: true } }));
    await until(async () => (await one.marks()).length === 1 && (await pendingAcks()) === 0);
    await until(async () => (await one.count('dead_letters')) === 8);
    const rows = await one.get(DeadLetters).listLetters({ effect: 'mark-notes', state: 'open' });
    expect(rows.map((row) => row.reason)).toEqual(['undecodable', 'undecodable', 'undecodable', 'unknown_version']);
    await expect(one.marks()).resolves.toEqual([4]);
    const text = (await one.get(Metrics).text()).body;
    expect(text).toContain('rookery_foreign_events_total{effect="mark-notes"} 1');
  });

  it('are restored by republishing after the stream was deleted, and none is doubled', async () => {
    const one = await process();
    await one.start();
    await one.emit(...range(30));
    await until(async () => (await one.marks()).length === 30 && (await one.marks('count-notes')).length === 30);
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
    const manager = await bus.jetstreamManager({ timeout: 50_000 });
    await manager.streams.delete('COLLABORATION');
    // As if two of them had been lost on the way to the effect.
    await one.database.query(`delete from inbox where effect = 'mark-notes' and event_id in
      (select event_id from outbox where aggregate_id in (3, 4))`);
    await one.database.query(`delete from marks where effect = 'mark-notes' and note_id in (3, 4)`);
    const none = await republishEvents(one.database, {
      from: new Date(0),
      to: null,
      types: ['rookery.identity.user.created.v1'],
    });
    expect(none).toBe(0);
    const count = await republishEvents(one.database, {
      from: new Date(Date.now() - 3_600_000),
      to: null,
      types: [`rookery.${SUBJECT}`],
    });
    expect(count).toBe(30);
    await until(async () => (await one.marks()).length >= 30, 'the lost effects');
    await one.emit(31);
    await until(async () => (await one.marks()).includes(31) && (await one.marks('count-notes')).includes(31));
    expect((await manager.streams.info('COLLABORATION')).state.messages).toBe(31);
    await expect(one.marks()).resolves.toEqual(range(31));
    await expect(one.marks('count-notes')).resolves.toEqual(range(31));
  });

  /** Deletes events and their effects, as a restore does. */
  const lose = async (one: TestProcess, ...ids: number[]) => {
    await one.database.query(
      `delete from inbox where event_id in (select event_id from outbox where aggregate_id = any($1::bigint[]))`,
      [ids],
    );
    await one.database.query(`delete from marks where note_id = any($1::bigint[])`, [ids]);
  };

  it('are restored by republishing at once, while the stream still knows the events', async () => {
    const one = await process();
    await one.start();
    await one.emit(...range(10));
    await until(async () => (await one.marks()).length === 10 && (await one.marks('count-notes')).length === 10);
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
    await lose(one, 3, 4);
    await republishEvents(one.database, { from: new Date(Date.now() - 60_000), to: null, types: null });
    await until(async () => (await one.marks()).length >= 10, 'the lost effects');
    await until(async () => (await one.marks('count-notes')).length >= 10, 'the lost effects of the other');
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0 && (await pendingAcks()) === 0);
    await expect(one.marks()).resolves.toEqual(range(10));
    await expect(one.marks('count-notes')).resolves.toEqual(range(10));
  });

  it('are restored by the service itself after a restore of its database', async () => {
    const first = await process();
    await first.start();
    await first.emit(...range(6));
    await until(async () => (await first.marks()).length === 6 && (await first.marks('count-notes')).length === 6);
    await until(async () => (await first.count('outbox', 'published_at is null')) === 0);
    await first.stop();
    processes.splice(processes.indexOf(first), 1);
    const second = await process();
    // The dump knew the first five, of which two had not had their effect, and one was not marked as published.
    await lose(second, 4, 5, 6);
    await second.database.query('delete from outbox where aggregate_id = 6');
    await second.database.query('update outbox set published_at = null where aggregate_id = 5');
    await second.start();
    await until(async () => (await second.marks()).length >= 5, 'the lost effects');
    await until(async () => (await second.marks('count-notes')).length >= 5, 'the lost effects of the other');
    // The stream no longer delivers events of the lost history.
    await expect(second.marks()).resolves.toEqual(range(5));
    await expect(second.marks('count-notes')).resolves.toEqual(range(5));
  });

  it('of other services are consumed again by a service whose database was restored', async () => {
    const elsewhere = await newDatabase();
    try {
      const producer = await process();
      await producer.start({ consumers: false });
      const hears = async () => {
        const made = await newProcess({
          databaseUrl: elsewhere.url,
          natsUrl: nats.url,
          consumers: [MarkNotesConsumer],
          service: 'import',
        });
        processes.push(made);
        return made;
      };
      const first = await hears();
      await first.start();
      await producer.emit(...range(6));
      await until(async () => (await first.marks()).length === 6, 'the effects');
      await until(async () => (await first.count('database_history', 'seen_at is not null')) === 1);
      await first.stop();
      processes.splice(processes.indexOf(first), 1);

      // The dump contains four of them.
      const lost = await producer.database.query<{ event_id: string }>(
        'select event_id from outbox where aggregate_id > 4',
      );
      const second = await hears();
      const ids = lost.map((row) => row.event_id);
      await second.database.query('delete from marks where note_id > 4');
      await second.database.query('delete from inbox where event_id = any($1::uuid[])', [ids]);
      await second.database.query(`update database_history set history = '1.2.00000001'`);
      await second.start();
      await until(async () => (await second.marks()).length >= 6, 'the lost effects');
      await producer.emit(7);
      await until(async () => (await second.marks()).includes(7));
      await expect(second.marks()).resolves.toEqual(range(7));
    } finally {
      await Promise.all(processes.splice(0).map((one) => one.stop()));
      await elsewhere.drop();
    }
  });

  it('start only after the leader has noticed the restore of the database', async () => {
    const first = await process();
    await first.start();
    await first.emit(1);
    await until(async () => (await first.marks()).length === 1);
    await until(async () => (await first.count('database_history', 'seen_at is not null')) === 1);
    await first.database.query(`update database_history set history = '1.2.00000001'`);
    const second = await process();
    const ending = new AbortController();
    let mayStart: boolean | null = null;
    let looks = 0;
    const database = {
      query: async <T>(sql: string): Promise<T[]> => {
        looks += 1;
        return second.database.query<T>(sql);
      },
    };
    const asked = () => waitForDatabaseHistoryCheck(database as never, { warn: () => undefined }, ending.signal);
    const beginning = asked().then((answer) => (mayStart = answer));
    await until(() => Promise.resolve(looks > 2));
    expect(mayStart).toBeNull();
    // A relay that becomes leader from now on checks before it publishes.
    await second.start();
    await first.stop();
    processes.splice(processes.indexOf(first), 1);
    await beginning;
    expect(mayStart).toBe(true);
    ending.abort();
    await expect(asked()).resolves.toBe(false);
  });

  it('are not applied for events of a lost history, and are applied for events in the dump', async () => {
    const first = await process();
    await first.start();
    await first.emit(...range(3));
    await until(async () => (await first.marks()).length === 3 && (await first.marks('count-notes')).length === 3);
    await until(async () => (await first.count('outbox', 'published_at is null')) === 0);
    MarkNotesConsumer.isAway = true;
    await first.emit(4, 5);
    await until(async () => (await first.count('outbox', 'published_at is null')) === 0);
    await first.stop();
    processes.splice(processes.indexOf(first), 1);
    MarkNotesConsumer.isAway = false;
    const second = await process();
    await lose(second, 3, 5);
    await second.database.query('delete from outbox where aggregate_id = 5');
    await second.database.query(`update database_history set history = '1.2.00000001'`);
    await second.start();
    await until(async () => (await second.marks()).length >= 4, 'the lost effects');
    await second.emit(6);
    await until(async () => (await second.marks()).includes(6));
    await expect(second.marks()).resolves.toEqual([1, 2, 3, 4, 6]);
  });

  it('are not lost when the stream recognizes ids of messages that it no longer holds', async () => {
    const one = await process();
    await one.start({ consumers: false });
    await one.emit(1, 2);
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
    const manager = await bus.jetstreamManager({ timeout: 50_000 });
    await manager.streams.purge('COLLABORATION');
    await one.database.query('update outbox set published_at = null');
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
    expect((await manager.streams.info('COLLABORATION')).state.messages).toBe(2);
    expect((await one.get(Metrics).text()).body).toMatch(/rookery_outbox_duplicates_total 2\n/);
  });

  it('start at the commit, not at the next poll', async () => {
    const one = await process({ OUTBOX_POLL_MS: '3600000' });
    await one.start();
    await one.emit(1);
    await until(async () => (await one.marks()).length === 1);
    for (const id of range(60, 2)) {
      await one.emit(id);
      await until(async () => (await one.count('marks', `effect = 'mark-notes' and note_id = ${id}`)) === 1);
    }
    // The goal is 5 ms on a quiet machine; this test only proves that no poll is involved.
    if (!globalThis.process.env['TEST_FIGURES']) return;
    const rows = await one.database.query<{ ms: number }>(
      `select extract(epoch from marks.at - outbox.occurred_at)::float * 1000 as ms
       from marks join outbox on outbox.aggregate_id = marks.note_id
       where marks.effect = 'mark-notes' and note_id > 1 order by ms`,
    );
    console.log({ p50: rows[30]!.ms, p99: rows[58]!.ms });
  });
});
