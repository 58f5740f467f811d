import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiV4Module, createApiV4App } from '@rookery/api-v4';
import type { DirectoryChangesAnswer } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import {
  Database,
  databaseSettingsFor,
  entitiesOf,
  PersistenceModule,
  plumbingMigrations,
  Work,
} from '@rookery/persistence';
import { PlatformModule, platformSettings, readSettings } from '@rookery/platform';
import { internalAuthorization, testDatabase, testInternalKeys } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { CreateDirectoryLog1767225600004 } from '../src/migrations/1767225600004-create-directory-log';
import { ChangeLog } from '../src/directory/change-log';
import { DirectoryModule } from '../src/directory/directory.module';
import { IdentityModule } from '../src/identity.module';
import { AddNotificationEmailsToUsers1767225600060 } from '../src/migrations/1767225600060-add-notification-emails-to-users';
import { CreateUsers1767225600000 } from '../src/migrations/1767225600000-create-users';
import { CreateAccessTokens1767225600001 } from '../src/migrations/1767225600001-create-access-tokens';
import { CreateNamespacesAndProjects1767225600002 } from '../src/migrations/1767225600002-create-namespaces-and-projects';
import { CreateMemberships1767225600003 } from '../src/migrations/1767225600003-create-memberships';
import { AddResourcesToAccessTokens1767225600019 } from '../src/migrations/1767225600019-add-resources-to-access-tokens';
import { AddForksToProjects1767225600015 } from '../src/migrations/1767225600015-add-forks-to-projects';
import { PublishForks1767225600200 } from '../src/migrations/1767225600200-publish-forks';
import { AddJobAdmissionToProjects1767225600400 } from '../src/migrations/1767225600400-add-job-admission-to-projects';
import { AddFirstCommitsToProjects1767225600402 } from '../src/migrations/1767225600402-add-first-commits-to-projects';
import { TellHistoriesApart1767225600050 } from '../src/migrations/1767225600050-tell-histories-apart';

@Module({})
class LogOnly {}

/** Identity's change log over identity's tables, served over HTTP, without the rest of identity. */
export class DirectoryLog {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly url: string,
  ) {}

  static database(): Promise<TestDatabase> {
    return testDatabase('identity_log', [
      ...plumbingMigrations,
      CreateUsers1767225600000,
      CreateAccessTokens1767225600001,
      CreateNamespacesAndProjects1767225600002,
      CreateMemberships1767225600003,
      CreateDirectoryLog1767225600004,
      AddResourcesToAccessTokens1767225600019,
      TellHistoriesApart1767225600050,
      AddForksToProjects1767225600015,
      AddNotificationEmailsToUsers1767225600060,
      PublishForks1767225600200,
      AddJobAdmissionToProjects1767225600400,
      AddFirstCommitsToProjects1767225600402,
    ]);
  }

  static async start(databaseUrl: string): Promise<DirectoryLog> {
    const settings = databaseSettingsFor('identity');
    const values = readSettings([platformSettings, settings], {
      DATABASE_URL_IDENTITY: databaseUrl,
      DATABASE_BACKGROUND_POOL_COUNT: '20',
      ROOKERY_INTERNAL_KEYS: testInternalKeys('identity'),
      ROOKERY_CONTEXT_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      LOG_LEVEL: 'silent',
    });
    const module = {
      module: LogOnly,
      imports: [
        PlatformModule.forRoot({ service: 'identity', values }),
        PersistenceModule.forRoot({
          service: 'identity',
          entities: entitiesOf(IdentityModule),
          settings: values.get(settings.token) as Parameters<typeof PersistenceModule.forRoot>[0]['settings'],
        }),
        ApiV4Module.forRoot({ service: 'identity' }),
        DirectoryModule,
      ],
    };
    // All applications of a spec file flush their logger when the process ends.
    process.setMaxListeners(100);
    const app = await createApiV4App(module, false);
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as unknown as Server).address() as AddressInfo;
    return new DirectoryLog(app, `http://127.0.0.1:${port}`);
  }

  get work(): Work {
    return this.app.get(Work);
  }

  get log(): ChangeLog {
    return this.app.get(ChangeLog);
  }

  get database(): Database {
    return this.app.get(Database);
  }

  async changes(query: Readonly<Record<string, string | number>>): Promise<DirectoryChangesAnswer> {
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const response = await fetch(`${this.url}${INTERNAL_PATHS.directoryChanges}?${parameters}`, {
      headers: { authorization: internalAuthorization('collaboration', 'identity') },
    });
    if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as DirectoryChangesAnswer;
  }

  /** Reads the log from the beginning. */
  async all(): Promise<DirectoryChangesAnswer> {
    return this.changes({ after: 0, epoch: '', limit: 10_000 });
  }

  stop(): Promise<void> {
    return this.app.close();
  }
}
