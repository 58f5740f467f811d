import { Module } from '@nestjs/common';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database, databaseSettingsFor, deadLetterCommands, PersistenceModule, Work } from '@rookery/persistence';
import { nestLogger, PlatformModule, platformSettings, readSettings, ShutdownOrder } from '@rookery/platform';
import type { BootContext, Logger } from '@rookery/platform';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, TestDatabase } from '@rookery/testing';
import { eventWorker, MessagingModule, messagingSettings, republishCommand } from '../../src';
import { MarkNotesConsumer } from '../support/mark-notes.consumer';
import { newDatabase, note } from '../support/service';

@Module({})
class Root {}

describe('eventWorker and the commands', () => {
  let nats: PrivateNats;
  let test: TestDatabase;
  let module: DynamicModule;
  let database: Database;

  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.drop());
  beforeEach(async () => {
    MarkNotesConsumer.reset();
    test = await newDatabase();
    const definition = databaseSettingsFor('collaboration');
    const values = readSettings([platformSettings, definition, messagingSettings], {
      DATABASE_URL_COLLABORATION: test.url,
      NATS_URL: nats.url,
      ROOKERY_INTERNAL_KEYS: `k1/gateway/admin:${Buffer.alloc(32, 9).toString('base64')}`,
      ROOKERY_CONTEXT_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
      LOG_LEVEL: 'silent',
      CONSUMER_RETRY_DELAYS_MS: '5',
      DEAD_LETTER_POLL_MS: '20',
    });
    const settings = values.get(definition.token) as never;
    module = {
      module: Root,
      controllers: [MarkNotesConsumer],
      imports: [
        PlatformModule.forRoot({ service: 'collaboration', values }),
        PersistenceModule.forRoot({ service: 'collaboration', entities: [], settings }),
        MessagingModule.forRoot({ service: 'collaboration' }),
      ],
    };
  });
  afterEach(() => test.drop());

  const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
  const contextOf = (application?: INestApplicationContext): BootContext & { shutdown: ShutdownOrder } =>
    ({
      logger: silent,
      nestLogger: nestLogger(silent),
      shutdown: new ShutdownOrder(silent),
      rootModule: () => Promise.resolve(module),
      application: () => Promise.resolve(application!),
    }) as unknown as BootContext & { shutdown: ShutdownOrder };
  const effectsOf = async (app: INestApplicationContext, id: number) => {
    database = app.get(Database);
    await app.get(Work).run(async (tx) => tx.emit(note(id)));
    await until(async () => (await database.query('select 1 from marks where note_id = $1', [id])).length === 1);
  };

  it('works as a process of its own, and stops in order', async () => {
    const context = contextOf();
    const app = await eventWorker.create(context);
    await eventWorker.start(app, context);
    await effectsOf(app, 1);
    await context.shutdown.runAll();
    await app.close();
  });

  it('works together with the API in one application', async () => {
    const context = contextOf();
    const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), { logger: false });
    await eventWorker.connect(app, context);
    await app.init();
    await eventWorker.start(app, context);
    await effectsOf(app, 2);
    await context.shutdown.runAll();
    await app.close();
  });

  it('lists, shows, replays and discards dead letters, and republishes', async () => {
    const context = contextOf();
    const app = await eventWorker.create(context);
    await eventWorker.start(app, context);
    const output: string[] = [];
    const spies = [process.stdout, process.stderr].map((stream) =>
      jest.spyOn(stream, 'write').mockImplementation((text) => output.push(String(text)) > 0),
    );
    const run = async (...words: string[]) => {
      output.length = 0;
      const command = { ...deadLetterCommands, ...republishCommand }[words[0]!]!;
      const code = await command.run(words.slice(1), contextOf(app));
      return { code, text: output.join('') };
    };
    try {
      MarkNotesConsumer.poison.add(1).add(2);
      await effectsOf(app, 3);
      await app.get(Work).run(async (tx) => [1, 2].forEach((id) => tx.emit(note(id))));
      await until(async () => (await database.query(`select 1 from dead_letters where state = 'open'`)).length === 2);
      const rows = await database.query<{ id: number }>('select id from dead_letters order by id');
      const [first, second] = rows.map((row) => String(row.id));
      const listed = await run('dead-letters', 'list', '--effect', 'mark-notes');
      expect(listed.text).toMatch(/open\tmark-notes\tcollaboration\.note\.deleted\.v1\t2 tries\t.*is poison/);
      expect(listed.text).toContain('2 dead letters');
      const asJson = await run('dead-letters', 'list', '--effect', 'mark-notes', '--json');
      expect(JSON.parse(asJson.text)).toEqual([
        expect.objectContaining({ state: 'open', effect: 'mark-notes', kind: 'event', attempts: 2 }),
        expect.objectContaining({ subject: 'collaboration.note.deleted.v1' }),
      ]);
      expect((await run('dead-letters', 'show', first!)).text).toContain('"note_id": 1');
      expect((await run('dead-letters', 'discard', second!)).code).toBe(2);
      expect(await run('dead-letters', 'discard', second!, '--reason', 'a test', '--by', 'root')).toMatchObject({
        code: 0,
      });
      MarkNotesConsumer.poison.clear();
      expect((await run('dead-letters', 'replay', '--all', '--by', 'root')).text).toContain(`1 to be replayed`);
      await until(async () => (await database.query(`select 1 from marks where note_id = 1`)).length === 1);
      expect((await run('dead-letters', 'list', '--state', 'open')).text).toBe('0 dead letters\n');
      expect((await run('dead-letters', 'list', '--state', 'discarded')).text).toContain('discarded');
      for (const wrong of [[], ['erase'], ['replay'], ['replay', 'x'], ['show', '99'], ['list', '--wrong']]) {
        expect((await run('dead-letters', ...wrong)).code).toBe(2);
      }
      expect((await run('republish')).code).toBe(2);
      expect((await run('republish', '--from', 'yesterday')).code).toBe(2);
      const republished = await run('republish', '--from', new Date(Date.now() - 3_600_000).toISOString());
      expect(republished).toEqual({ code: 0, text: '3 events will be sent again\n' });
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    await context.shutdown.runAll();
    await app.close();
  });
});
