import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { Directory, directoryMigrations, DirectoryModule } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { Database, databaseSettingsFor, PersistenceModule } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { PlatformModule, platformSettings, readSettings } from '@rookery/platform';
import { testDatabase, testInternalKeys, until } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { ChangeLogHistoriesService } from '../../src/directory/history/histories.service';
import { DirectoryLog } from '../directory-log';

/** Starts a service with a copy of this identity's directory. With `isBehind` the copy is never updated. */
async function startService(databaseUrl: string, identityUrl: string, isBehind = false): Promise<TestingModule> {
  const settings = databaseSettingsFor('collaboration');
  const values = readSettings([platformSettings, settings], {
    DATABASE_URL_COLLABORATION: databaseUrl,
    IDENTITY_URL: identityUrl,
    ROOKERY_INTERNAL_KEYS: testInternalKeys('collaboration'),
    ROOKERY_CONTEXT_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    LOG_LEVEL: 'silent',
  });
  const module = await Test.createTestingModule({
    imports: [
      PlatformModule.forRoot({ service: 'collaboration', values }),
      PersistenceModule.forRoot({
        service: 'collaboration',
        entities: [],
        settings: values.get(settings.token) as Parameters<typeof PersistenceModule.forRoot>[0]['settings'],
      }),
      DirectoryModule.forRoot({ service: 'collaboration' }),
    ],
  }).compile();
  return isBehind ? module : module.init();
}

describe('a service and identity', () => {
  let databases: readonly TestDatabase[];
  let identity: DirectoryLog;
  let service: TestingModule;
  let behind: TestingModule;

  beforeAll(async () => {
    databases = await Promise.all([
      DirectoryLog.database(),
      testDatabase('directory', directoryMigrations),
      testDatabase('directory', directoryMigrations),
    ]);
    identity = await DirectoryLog.start(databases[0]!.url);
    service = await startService(databases[1]!.url, identity.url);
    behind = await startService(databases[2]!.url, identity.url, true);
  });

  afterAll(async () => {
    await Promise.all([service, behind].map((module) => module.close()));
    await identity.stop();
    for (const database of databases) await database.drop();
  });

  /** Makes the change and returns the viewer that a gateway would send next. */
  async function change(make: (tx: Tx) => Promise<void>, userId: number): Promise<Viewer> {
    const tx = await identity.work.run(async (running) => {
      await make(running);
      return running;
    });
    return at(identity.log.versionOf(tx)!, userId);
  }
  function at(directory: { version: number; epoch: string }, userId: number): Viewer {
    const anonymousViewer = {
      isAdmin: false,
      isExternal: false,
      isBot: false,
      tokenId: null,
      impersonatorId: null,
      isBySudo: false,
      creatorId: null,
      address: null,
    };
    const who = { userId, username: 'ann', scopes: ['api'], requestId: 'r', deadline: Date.now() + 30_000 };
    return { ...anonymousViewer, ...who, directory: { version: directory.version, epoch: directory.epoch } };
  }
  /** Waits until the copy has reached that version. */
  const follows = ({ version, epoch }: { version: number; epoch: string }) =>
    until(async () => {
      const at = 'select 1 from directory_state where version >= $1 and epoch = $2';
      return (await service.get(Database).query(at, [version, epoch])).length === 1;
    }, `the copy at ${version}`);

  it('decide alike at each version, whether by the copy or by asking identity', async () => {
    await change(async (tx) => {
      await tx.query(`insert into users (id, username, name, email) values (5, 'ann', 'Ann', 'ann@mail.example')`);
      await tx.query(
        `insert into namespaces (id, kind, traversal_ids, name, path, full_name, full_path, visibility, plan)
         values (50, 'group', '{50}', 'Crew', 'crew', 'Crew', 'crew', 'private', 'free')`,
      );
      await tx.query(
        `insert into projects (id, namespace_id, name, path, visibility) values (500, 50, 'Nest', 'nest', 'private')`,
      );
      identity.log.recordChange(tx, 'user', 5);
      identity.log.recordChange(tx, 'namespace', 50);
      identity.log.recordChange(tx, 'project', 500);
    }, 5);
    const levels = [0, 10, 30, 50, 0];
    for (const [round, level] of levels.entries()) {
      const viewer = await change(async (tx) => {
        if (round === 0)
          await tx.query(
            `insert into members (id, user_id, source_type, source_id, access_level) values (9, 5, 'namespace', 50, 5)`,
          );
        else if (level > 0) await tx.query(`update members set access_level = $1 where id = 9`, [level]);
        else await tx.query(`delete from members where id = 9`);
        identity.log.recordChange(tx, 'membership', 9);
      }, 5);
      const answers = await Promise.all(
        [service, behind].flatMap((module) => [
          module.get(Directory).findProject('Crew/NEST', viewer),
          module.get(Directory).findProject(500, viewer),
          module.get(Directory).findGroup(50, viewer),
        ]),
      );
      expect([round, answers.map((answer) => answer?.level ?? null)]).toEqual([
        round,
        answers.map(() => level || null),
      ]);
      // The facts are equal in both cases.
      expect(answers.slice(3)).toEqual(answers.slice(0, 3));
    }
  });

  it('decide alike again after a new epoch', async () => {
    const viewer = await change(async (tx) => {
      await tx.query(
        `insert into members (id, user_id, source_type, source_id, access_level) values (10, 5, 'project', 500, 40)`,
      );
      identity.log.recordChange(tx, 'membership', 10);
    }, 5);
    const directory = service.get(Directory);
    expect(await directory.findProject(500, viewer)).toMatchObject({ level: 40 });
    const head = await identity.app.get(ChangeLogHistoriesService).startHistory();
    expect(await directory.findProject(500, at(head, 5))).toMatchObject({ level: 40 });
    // Until then it may use the state of the former epoch.
    await follows(head);
    await expect(directory.findProject(500, viewer)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('a blocked user sees nothing, whichever side decides', async () => {
    const viewer = await change(async (tx) => {
      await tx.query(`update projects set visibility = 'public' where id = 500`);
      await tx.query(`update users set state = 'blocked' where id = 5`);
      identity.log.recordChange(tx, 'project', 500);
      identity.log.recordChange(tx, 'user', 5);
    }, 5);
    await follows(viewer.directory);
    await expect(service.get(Directory).findProject(500, viewer)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await behind.get(Directory).findProject(500, viewer)).toBeNull();
  });
});
