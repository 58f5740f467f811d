import { Client } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { testDatabase, testServerUrl, type TestDatabase } from '../../src';

class CreateNests1767225600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE nests (id bigint PRIMARY KEY, name text NOT NULL)');
  }
  async down(): Promise<void> {}
}

class CreateEggs1767225600001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(statement);
  }
  async down(): Promise<void> {}
}
let statement = 'CREATE TABLE eggs (id bigint PRIMARY KEY)';

async function queryDatabase<T>(url: string, text: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

const made: TestDatabase[] = [];
async function createTestDatabase(...migrations: Parameters<typeof testDatabase>[1]): Promise<TestDatabase> {
  const database = await testDatabase('testing', migrations);
  made.push(database);
  return database;
}

afterEach(async () => {
  await Promise.all(made.splice(0).map((database) => database.drop()));
});

describe('testDatabase', () => {
  it('gives every caller a migrated database of its own', async () => {
    const [one, two] = await Promise.all([
      createTestDatabase(CreateNests1767225600000),
      createTestDatabase(CreateNests1767225600000),
    ]);
    await queryDatabase(one.url, `INSERT INTO nests VALUES (1, 'rook')`);
    expect(await queryDatabase(two.url, 'SELECT * FROM nests')).toEqual([]);
  });

  it('builds a new template when a statement in another file of the migration changes', async () => {
    await createTestDatabase(CreateEggs1767225600001);
    statement = 'CREATE TABLE eggs (id bigint PRIMARY KEY, laid_on date)';
    const changed = await createTestDatabase(CreateEggs1767225600001);
    expect(await queryDatabase(changed.url, 'SELECT laid_on FROM eggs')).toEqual([]);
  });

  it('leaves nothing behind when dropped, even while a connection is open', async () => {
    const database = await testDatabase('testing', [CreateNests1767225600000]);
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    await database.drop();
    const name = new URL(database.url).pathname.slice(1);
    const left = await queryDatabase(
      testServerUrl('TEST_POSTGRES_URL'),
      `SELECT 1 FROM pg_database WHERE datname = '${name}'`,
    );
    expect(left).toEqual([]);
  });
});
