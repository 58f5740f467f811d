import type { PrivateNats, TestDatabase } from '@rookery/testing';
import { FaultProxy, startNats, until } from '@rookery/testing';
import { connect } from 'nats';
import type { Client } from 'pg';
import type { NatsConnection } from 'nats';
import { Metrics } from '@rookery/platform';
import { OutboxReader } from '../../src/relay/outbox-reader';
import { Streams } from '../../src/bus/streams';
import { MarkNotesConsumer } from '../support/mark-notes.consumer';
import { newDatabase, newProcess, note, range } from '../support/service';
import type { TestProcess } from '../support/service';

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

describe('Relay', () => {
  let nats: PrivateNats;
  let bus: NatsConnection;
  let test: TestDatabase;
  const processes: TestProcess[] = [];

  const process = async (settings?: Record<string, string>) => {
    const made = await newProcess({
      databaseUrl: test.url,
      natsUrl: nats.url,
      consumers: [MarkNotesConsumer],
      settings: { DATABASE_BACKGROUND_POOL_COUNT: '16', ...settings },
    });
    processes.push(made);
    return made;
  };
  const streamInfo = async () => (await bus.jetstreamManager({ timeout: 50_000 })).streams.info('COLLABORATION');

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

  it('publishes what was committed, as CloudEvents with the event id as message id, and marks it', async () => {
    const one = await process();
    await one.start({ consumers: false });
    await one.emit(5);
    await until(async () => (await one.count('outbox', 'published_at is not null')) === 1);
    const manager = await bus.jetstreamManager({ timeout: 50_000 });
    const message = await manager.streams.getMessage('COLLABORATION', { seq: 1 });
    const [row] = await one.database.query<{ event_id: string; occurred_at: Date }>('select * from outbox');
    expect(message.subject).toBe('collaboration.note.deleted.v1');
    expect(message.header.get('Nats-Msg-Id')).toBe(row!.event_id);
    expect(message.json()).toEqual({
      specversion: '1.0',
      id: row!.event_id,
      source: '/rookery/collaboration',
      type: 'rookery.collaboration.note.deleted.v1',
      subject: 'collaboration.note.deleted.v1',
      time: row!.occurred_at.toISOString(),
      datacontenttype: 'application/json',
      aggregatetype: 'note',
      aggregateid: 5,
      actorid: 7,
      data: note(5).data,
    });
  });

  it('loses none of 3,000 events of 12 writers with transactions of different length', async () => {
    const one = await process();
    await one.start({ consumers: false });
    let id = 0;
    const writer = async () => {
      while (id < 3000) {
        const mine = ++id;
        await one.work.run(async (tx) => {
          tx.emit(note(mine));
          // The row has its id now and becomes visible up to 12 ms later, after rows with higher ids.
          tx.beforeCommit(async () => undefined);
          const original = tx.manager.queryRunner!.commitTransaction.bind(tx.manager.queryRunner);
          tx.manager.queryRunner!.commitTransaction = async () => {
            if (mine % 3 === 0) await tx.query(`select pg_sleep($1)`, [(mine % 5) * 0.003]);
            await original();
          };
        });
      }
    };
    await Promise.all(range(12).map(writer));
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0, 'an empty outbox');
    await expect(one.count('outbox')).resolves.toBe(3000);
    expect((await streamInfo()).state.messages).toBe(3000);
  });

  it('lets one process relay at a time, and another take over', async () => {
    const [one, two] = [await process(), await process()];
    await one.start({ consumers: false });
    await one.emit(1);
    await until(async () => (await one.count('outbox', 'published_at is not null')) === 1);
    let stepsOfTheOther = 0;
    two.faults.setStep('relay.before-mark', () => void (stepsOfTheOther += 1));
    await two.start({ consumers: false });
    for (const id of range(30, 100)) await two.emit(id);
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
    expect(stepsOfTheOther).toBe(0);
    const leaders = `locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`;
    await expect(one.count('pg_locks', leaders)).resolves.toBe(1);
    await one.relay.stop();
    await two.emit(2);
    await until(async () => (await two.count('outbox', 'published_at is null')) === 0);
    expect(stepsOfTheOther).toBeGreaterThan(0);
    await expect(two.count('pg_locks', leaders)).resolves.toBe(1);
  });

  it('gives no effect twice when it is killed between acknowledgement and mark', async () => {
    const one = await process();
    let kills = 0;
    one.faults.setStep('relay.before-mark', () => {
      kills += 1;
      throw new Error('killed');
    });
    await one.start();
    await one.emit(...range(20));
    await until(() => kills >= 2, 'the second kill');
    await one.relay.stop();
    await expect(one.count('outbox', 'published_at is null')).resolves.toBe(20);
    // The bus has dropped the message ids, so only the inbox can recognize the event. It drops the oldest first, so this one is the last.
    const probed = async () =>
      (await bus.jetstream({ timeout: 50_000 }).publish('collaboration.probe.sent.v1', '', { msgID: 'probe' }))
        .duplicate;
    expect(await probed()).toBe(false);
    await new Streams({ replicas: 1, maxBytes: -1, duplicateWindowMs: 100 }, silent).reconcileStream(
      bus,
      'collaboration',
    );
    await until(async () => (await streamInfo()).config.duplicate_window === 100_000_000);
    await until(async () => !(await probed()), 'a bus without ids');
    const two = await process();
    await two.start();
    await until(async () => (await two.count('outbox', 'published_at is null')) === 0);
    await until(async () => (await two.marks()).length >= 20);
    // Two of them are the probes.
    expect((await streamInfo()).state.messages).toBeGreaterThan(22);
    await two.emit(21);
    await until(async () => (await two.marks()).includes(21));
    await expect(two.marks()).resolves.toEqual(range(21));
  });

  it('starts without the bus, keeps writers going, and catches up when it comes', async () => {
    await nats.stop();
    const one = await process();
    await one.start();
    await one.emit(...range(50));
    await expect(one.count('outbox', 'published_at is null')).resolves.toBe(50);
    await nats.start();
    await until(async () => (await one.marks()).length === 50);
    await nats.stop();
    await one.emit(...range(50, 51));
    await nats.start();
    await until(async () => (await one.marks()).length === 100);
    await one.emit(101);
    await until(async () => (await one.marks()).length === 101);
    await expect(one.marks()).resolves.toEqual(range(101));
  });

  it('keeps later events of an aggregate unmarked when an earlier one could not be published', async () => {
    const one = await process({ OUTBOX_POLL_MS: '20' });
    // The bus refuses this event for its size; smaller ones go through.
    const manager = await bus.jetstreamManager({ timeout: 50_000 });
    await manager.streams.add({ name: 'COLLABORATION', subjects: ['collaboration.>'], max_msg_size: 2000 });
    const big = { ...note(1), data: { ...note(1).data, padding: 'x'.repeat(3000) } };
    await one.work.run(async (tx) => {
      tx.emit(note(2));
      tx.emit(big);
      tx.emit(note(1));
      tx.emit(note(3));
    });
    await one.start({ consumers: false });
    await until(async () => (await one.count('outbox', 'published_at is not null')) === 2);
    const refusal = `attempts > 1 and last_error like '%message size exceeds maximum allowed%'`;
    await until(async () => (await one.count('outbox', refusal)) === 1, 'the second refusal');
    const rows = await one.database.query<{ aggregate_id: number; open: boolean; last_error: string | null }>(
      'select aggregate_id, published_at is null as open, last_error from outbox order by id',
    );
    expect(rows.map((row) => [row.aggregate_id, row.open])).toEqual([
      [2, false],
      [1, true],
      [1, true],
      [3, false],
    ]);
    expect(rows[1]!.last_error).toContain('message size exceeds maximum allowed');
    // `max_msg_size` was nothing that a stream of ours has; here the operator lifts it.
    await manager.streams.update('COLLABORATION', { max_msg_size: -1 });
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
  });

  it('corrects a stream and a durable that drifted', async () => {
    const manager = await bus.jetstreamManager({ timeout: 50_000 });
    await manager.streams.add({ name: 'COLLABORATION', subjects: ['collaboration.note.>'], max_age: 1e9 * 60 });
    const one = await process();
    await one.start();
    await one.emit(1);
    await until(async () => (await one.marks()).length === 1);
    const { config } = await streamInfo();
    expect(config).toMatchObject({
      subjects: ['collaboration.>'],
      max_age: 7 * 24 * 3600 * 1e9,
      discard: 'new',
      storage: 'file',
      duplicate_window: 600 * 1e9,
    });
    const durable = 'collaboration--mark-notes--note-deleted-v1';
    await manager.consumers.update('COLLABORATION', durable, { max_ack_pending: 5, ack_wait: 1e9 });
    await one.stop();
    processes.splice(0);
    const two = await process();
    await two.start();
    await until(async () => (await manager.consumers.info('COLLABORATION', durable)).config.max_ack_pending === 128);
    expect((await manager.consumers.info('COLLABORATION', durable)).config).toMatchObject({
      ack_policy: 'explicit',
      ack_wait: 30e9,
      filter_subject: 'collaboration.note.deleted.v1',
      max_deliver: -1,
    });
  });

  it('deletes published events after 7 days, inbox rows after 14 and idempotency keys after one, but no waiting event', async () => {
    const one = await process();
    await one.emit(...range(6));
    await one.database.query(`update outbox set published_at = now() - interval '8 days' where id <= 2`);
    await one.database.query(`update outbox set published_at = now() - interval '6 days' where id = 3`);
    await one.database.query(`update outbox set occurred_at = now() - interval '9 days' where id = 4`);
    await one.database.query(`insert into inbox (effect, event_id, received_at)
      select 'e', event_id, now() - interval '1 day' * (id + 11) from outbox`);

    await one.database
      .query(`insert into idempotency_keys (user_id, actor_id, key, request, answer, created_at, answer_until)
      select 1, 0, k, '', 'a', now() - made * interval '1 minute', now() - until * interval '1 minute'
      from (values ('old', 1450, 10), ('shown', 20, 10), ('young', 20, -10)) as v (k, made, until)`);

    const reader = await OutboxReader.tryToLead(one.database, 'spec');
    await expect(reader!.pruneRows(7, 14)).resolves.toBe(false);
    await reader!.release();
    const keys = `select key, answer is null as is_blank from idempotency_keys order by key`;
    expect(await one.database.query(keys)).toEqual([
      { key: 'shown', is_blank: true },
      { key: 'young', is_blank: false },
    ]);
    const left = await one.database.query<{ id: number }>('select id from outbox order by id');
    expect(left.map((row) => row.id)).toEqual([3, 4, 5, 6]);
    await expect(one.count('inbox')).resolves.toBe(2);
  });

  it('reads by its indexes also with the plan that it made while the outbox was small', async () => {
    const one = await process();
    const reader = (await OutboxReader.tryToLead(one.database, 'spec'))!;
    const { client } = reader as unknown as { readonly client: Client };
    await one.emit(...range(3));
    await one.database.query('vacuum analyze outbox');
    for (let look = 0; look < 10; look += 1) await reader.markAndRead([], 200);
    await one.emit(...range(2997));
    await one.database.query('update outbox set published_at = now() where id <= 2990');
    await client.query('begin');
    expect(await reader.markAndRead([2991, 2992, 2993], 200)).toHaveLength(7);
    const { rows } = await client.query<{ seq_tup_read: number }>(
      `select seq_tup_read::integer from pg_stat_xact_user_tables where relname = 'outbox'`,
    );
    expect(rows).toEqual([{ seq_tup_read: 0 }]);
    await client.query('commit');
    await reader.release();
  });

  it('publishes events in few batches when they arrive faster than they are read', async () => {
    const one = await process();
    const reads = jest.spyOn(OutboxReader.prototype, 'markAndRead');
    await one.start({ consumers: false });
    await until(async () => (await one.get(Metrics).text()).body.includes('rookery_relay_leads 1'));
    reads.mockClear();
    const from = performance.now();
    for (const id of range(200)) await one.emit(id);
    const tookMs = performance.now() - from;
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
    // One batch every 10 ms, and some that find nothing.
    expect(reads.mock.calls.length).toBeLessThan(tookMs / 10 + 20);
    reads.mockRestore();
  });

  it('is replaced by another process when its connection hangs, and can lead again', async () => {
    const proxy = await FaultProxy.before(test.url);
    const first = await process({ DATABASE_URL_COLLABORATION: proxy.url });
    const leads = async (one: TestProcess) => /rookery_relay_leads 1/.test((await one.get(Metrics).text()).body);
    try {
      await first.start({ consumers: false });
      await until(() => leads(first));
      const second = await process();
      await second.start({ consumers: false });
      proxy.swallow();
      await second.emit(...range(5));
      await until(async () => (await second.count('outbox', 'published_at is null')) === 0);
      expect(await leads(second)).toBe(true);
      await until(async () => !(await leads(first)));
      await second.stop();
      processes.splice(processes.indexOf(second), 1);
      await first.emit(6);
      await until(async () => (await first.count('outbox', 'published_at is null')) === 0);
      expect(await leads(first)).toBe(true);
      const { state } = await streamInfo();
      expect(state.messages).toBe(6);
    } finally {
      await Promise.all(processes.splice(0).map((one) => one.stop()));
      await proxy.close();
    }
  });

  it('ends the leadership of an idle process although its connection is open', async () => {
    const one = await process();
    const stopped = await OutboxReader.tryToLead(one.database, 'spec');
    expect(stopped!.isLeader).toBe(true);
    await one.start({ consumers: false });
    await one.emit(1);
    await until(async () => (await one.count('outbox', 'published_at is null')) === 0);
    expect(stopped!.isLeader).toBe(false);
    await stopped!.release();
  });

  it('measures waiting events', async () => {
    const one = await process();
    await one.emit(1, 2);

    const text = (await one.get(Metrics).text()).body;
    expect(text).toMatch(/rookery_outbox_depth 2\n/);
    expect(text).toMatch(/rookery_outbox_oldest_seconds \d/);
  });
});
