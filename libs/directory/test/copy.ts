import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { plumbingMigrations, databaseSettingsFor, Database, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, platformSettings, readSettings } from '@rookery/platform';
import { DATABASE_PATIENCE, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { DECISION_LIMITS_TOKEN, Directory, directoryMigrations, DirectoryModule } from '../src';
import type { DecisionLimits } from '../src';

export const INTERNAL_SECRET = 'an internal secret for tests only, long enough';

/** Far more than a slow machine takes: what the copy is not late for, it decides. */
const PATIENT: DecisionLimits = { waitMs: 50_000, askMs: 50_000 };

/** A service that has nothing but its copy of the directory: real database, real applier, real HTTP to identity. */
export class Copy {
  private constructor(
    readonly testing: TestingModule,
    readonly directory: Directory,
    readonly database: Database,
  ) {}

  static database(): Promise<TestDatabase> {
    return testDatabase('directory', [...plumbingMigrations, ...directoryMigrations]);
  }

  /** Shape: `limits` other than patient ones, where being late is looked at. */
  static async start(databaseUrl: string, identityUrl: string, limits = PATIENT): Promise<Copy> {
    const settings = databaseSettingsFor('collaboration');
    const values = readSettings([platformSettings, settings], {
      DATABASE_URL_COLLABORATION: databaseUrl,
      IDENTITY_URL: identityUrl,
      ROOKERY_INTERNAL_SECRET: INTERNAL_SECRET,
      ROOKERY_CONTEXT_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      LOG_LEVEL: 'silent',
      ...DATABASE_PATIENCE,
    });
    values.set(DECISION_LIMITS_TOKEN, limits);
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
