import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { plumbingMigrations, databaseSettingsFor, Database, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, platformSettings, readSettings } from '@rookery/platform';
import { testDatabase, testInternalKeys } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Directory, directoryMigrations, DirectoryModule } from '../src';

/** A wait that is much longer than a slow machine needs, so that the copy decides everything. */
const PATIENT = { DIRECTORY_WAIT_MS: '50000' };

/** A service with only its copy of the directory: real database, real applier, real HTTP to identity. */
export class Copy {
  private constructor(
    readonly testing: TestingModule,
    readonly directory: Directory,
    readonly database: Database,
  ) {}

  static database(): Promise<TestDatabase> {
    return testDatabase('directory', [...plumbingMigrations, ...directoryMigrations]);
  }

  /** `env` replaces the long wait. Pass an empty object for the product's defaults. */
  static async start(
    databaseUrl: string,
    identityUrl: string,
    env: Readonly<Record<string, string>> = PATIENT,
  ): Promise<Copy> {
    const settings = databaseSettingsFor('collaboration');
    const values = readSettings([platformSettings, settings], {
      DATABASE_URL_COLLABORATION: databaseUrl,
      IDENTITY_URL: identityUrl,
      ROOKERY_INTERNAL_KEYS: testInternalKeys('collaboration'),
      ROOKERY_CONTEXT_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      LOG_LEVEL: 'silent',
      ...env,
    });
    const testing = await Test.createTestingModule({
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
    await testing.init();
    return new Copy(testing, testing.get(Directory), testing.get(Database));
  }

  stop(): Promise<void> {
    return this.testing.close();
  }

  async position(): Promise<{ version: number; epoch: string }> {
    const [state] = await this.database.query<{ version: number; epoch: string }>(
      'select version, epoch from directory_state',
    );
    return state as { version: number; epoch: string };
  }
}
