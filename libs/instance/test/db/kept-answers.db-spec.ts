import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { databaseSettingsFor, PersistenceModule, plumbingMigrations } from '@rookery/persistence';
import { PlatformModule, pickSettings } from '@rookery/platform';
import { testDatabase, testSettings } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { instanceMigrations } from '../../src';
import { InstanceAnswerStore } from '../../src/instance-answer-store';

let database: TestDatabase;
let testing: TestingModule;

beforeAll(async () => {
  database = await testDatabase('instance', [...plumbingMigrations, ...instanceMigrations]);
  const stored = databaseSettingsFor('package');
  const values = testSettings({ service: 'package', settings: [stored], databaseUrl: database.url });
  testing = await Test.createTestingModule({
    imports: [
      PlatformModule.forRoot({ service: 'package', values }),
      PersistenceModule.forRoot({ service: 'package', entities: [], settings: pickSettings(values, stored) }),
    ],
    providers: [InstanceAnswerStore],
  }).compile();
});
afterAll(async () => {
  await testing.close();
  await database.drop();
});

async function keepAndRead(version: number, before: number): Promise<number> {
  const kept = testing.get(InstanceAnswerStore);
  await kept.keepAnswer({ version, features: {}, settings: { notes_create_limit: version } }, before);
  const answer = await kept.readAnswer();
  expect(answer).toEqual({ version: answer!.version, features: {}, settings: { notes_create_limit: answer!.version } });
  return answer!.version;
}

it('does not replace a newer answer by a late one', async () => {
  expect([await keepAndRead(6, 4), await keepAndRead(5, 4), await keepAndRead(7, 6)]).toEqual([6, 6, 7]);
});

it('takes the lower version of a restored admin from a reader that knew the higher one', async () => {
  expect([await keepAndRead(2, 7), await keepAndRead(2, 7), await keepAndRead(3, 2)]).toEqual([2, 2, 3]);
});
