import { join } from 'node:path';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, TestDatabase } from '@rookery/testing';
import { connect } from 'nats';
import type { NatsConnection } from 'nats';
import { busRightsOf, declaredEffects } from '../../src';
import { MarkNotesConsumer } from '../support/mark-notes.consumer';
import { newDatabase, newProcess, note } from '../support/service';
import type { TestProcess } from '../support/service';

const tls = (name: string): string => join(__dirname, '../support/tls', name);

describe('access to the message bus', () => {
  let test: TestDatabase;
  let nats: PrivateNats | undefined;
  const running: TestProcess[] = [];

  beforeAll(async () => {
    test = await newDatabase();
  });
  afterAll(() => test.drop());
  beforeEach(() => MarkNotesConsumer.reset());
  afterEach(async () => {
    await Promise.all(running.splice(0).map((process) => process.stop()));
    await nats?.drop();
    nats = undefined;
  });

  async function processAt(natsUrl: string, settings: Record<string, string> = {}): Promise<TestProcess> {
    const process = await newProcess({ databaseUrl: test.url, natsUrl, consumers: [MarkNotesConsumer], settings });
    running.push(process);
    return process;
  }

  /**
   * Whether the process connects. A refusal is repeated for as long as it tries, so a process that is expected
   * to connect gets more time.
   */
  async function getsIn(process: TestProcess, isExpected: boolean): Promise<boolean> {
    process.broker.start();
    return process.broker.waitForConnection(AbortSignal.timeout(isExpected ? 50_000 : 1500)).then(
      () => true,
      () => false,
    );
  }

  describe('that requires a user and a password', () => {
    const demanding = 'authorization { user: colony, password: "p:ss word" }';
    const at = (credentials: string): string => nats!.url.replace('//', `//${credentials}`);

    it.each([
      ['lets in those of the URL', 'colony:p%3Ass%20word@', true],
      ['refuses a wrong password', 'colony:other@', false],
      ['refuses none', '', false],
    ])('%s', async (_, credentials, expected) => {
      nats = await startNats(demanding);
      expect(await getsIn(await processAt(at(credentials)), expected)).toBe(expected);
    });
  });

  describe('that requires TLS', () => {
    const secured = `tls { cert_file: "${tls('server-cert.pem')}", key_file: "${tls('server-key.pem')}" }`;
    const trusted = { NATS_CA_FILE: tls('server-cert.pem') };

    it('accepts a client that trusts its authority', async () => {
      nats = await startNats(secured);
      expect(await getsIn(await processAt(nats.url.replace('nats:', 'tls:'), trusted), true)).toBe(true);
    });

    it('is not trusted without its authority', async () => {
      nats = await startNats(secured);
      expect(await getsIn(await processAt(nats.url.replace('nats:', 'tls:')), false)).toBe(false);
    });

    it('tls:// refuses a server without TLS', async () => {
      nats = await startNats();
      expect(await getsIn(await processAt(nats.url.replace('nats:', 'tls:'), trusted), false)).toBe(false);
    });
  });

  describe('with one account per service', () => {
    const list = (subjects: readonly string[]): string => subjects.map((subject) => JSON.stringify(subject)).join(', ');
    const account = (service: 'collaboration' | 'import'): string => {
      const { publish, subscribe } = busRightsOf(service, service === 'collaboration' ? declaredEffects() : []);
      return `{ user: ${service}, password: p1, permissions: {
        publish: { allow: [${list(publish)}] }, subscribe: { allow: [${list(subscribe)}] } } }`;
    };
    const accounts = (): string =>
      `authorization { users: [ { user: operator, password: p0 }, ${account('collaboration')}, ${account('import')} ] }`;
    const open: NatsConnection[] = [];
    const enter = async (user: string, pass = 'p1'): Promise<NatsConnection> => {
      const connection = await connect({
        servers: nats!.url.slice('nats://'.length),
        user,
        pass,
        inboxPrefix: `_INBOX_${user}`,
        timeout: 50_000,
      });
      open.push(connection);
      return connection;
    };
    afterEach(() => Promise.all(open.splice(0).map((connection) => connection.close())));

    it('carries an event from outbox to effect', async () => {
      nats = await startNats(accounts());
      const process = await processAt(nats.url.replace('//', '//collaboration:p1@'));
      await process.start();
      await process.emit(1, 2);
      await until(async () => (await process.marks()).length === 2, 'the effects');
      const manager = await (await enter('operator', 'p0')).jetstreamManager({ timeout: 50_000 });
      await until(async () => (await manager.streams.info('COLLABORATION')).state.messages === 2);
      const [consumer] = await manager.consumers.list('COLLABORATION').next();
      await until(async () => (await manager.consumers.info('COLLABORATION', consumer!.name)).num_ack_pending === 0);
    });

    it('refuses to publish for another service', async () => {
      nats = await startNats(accounts());
      await (await processAt(nats.url.replace('//', '//collaboration:p1@'))).start();
      const manager = await (await enter('operator', 'p0')).jetstreamManager({ timeout: 50_000 });
      await until(() => manager.streams.info('COLLABORATION').then(Boolean, () => false), 'the stream');
      const otherService = await enter('import');
      const { subject } = note(1).definition;
      await expect(otherService.jetstream().publish(subject, '{}')).rejects.toThrow(/Permissions Violation|TIMEOUT/i);
      expect((await manager.streams.info('COLLABORATION')).state.messages).toBe(0);
    });

    it.each([
      [
        'reads what another consumes',
        '$JS.API.CONSUMER.MSG.NEXT.COLLABORATION.collaboration--mark-notes--note-deleted-v1',
      ],
      [
        'makes a durable on a stream that it has no business with',
        '$JS.API.CONSUMER.DURABLE.CREATE.COLLABORATION.import--x',
      ],
      ['deletes a stream', '$JS.API.STREAM.DELETE.COLLABORATION'],
      ['reads a message by its number', '$JS.API.STREAM.MSG.GET.COLLABORATION'],
      ['deletes a message', '$JS.API.STREAM.MSG.DELETE.COLLABORATION'],
    ])('refuses a service that %s', async (_, subject) => {
      nats = await startNats(accounts());
      const otherService = await enter('import');
      await expect(otherService.request(subject, '{}', { timeout: 50_000 })).rejects.toThrow(/Permissions Violation/i);
    });

    it.each([['collaboration.>'], ['_INBOX_collaboration.>'], ['$JS.EVENT.>']])(
      'refuses a subscription to %s',
      async (subject) => {
        nats = await startNats(accounts());
        const otherService = await enter('import');
        const subscription = otherService.subscribe(subject);
        await otherService.flush();
        await expect(subscription.closed).resolves.toBeUndefined();
      },
    );
  });
});
