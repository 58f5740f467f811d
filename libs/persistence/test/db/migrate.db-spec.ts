import { Readiness } from '@rookery/platform';
import { testDatabase } from '@rookery/testing';
import { Client } from 'pg';
import { pendingMigrations, plumbingMigrations, runMigrations } from '../../src';
import type { MigrationClass } from '../../src';
import { startService } from '../support/service';

class CreateThings1790000000002 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('create table things (id int)');
  }
}
class BreakThings1790000000003 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('create table halves (id int)');
    await runner.query('create table things (id int)');
  }
}
const things = CreateThings1790000000002 as unknown as MigrationClass;
const broken = BreakThings1790000000003 as unknown as MigrationClass;

describe('migrations', () => {
  it('run once when several processes migrate at the same time', async () => {
    const { url, drop } = await testDatabase('migrate', plumbingMigrations);
    try {
      const done = await Promise.all([1, 2, 3].map(() => runMigrations(url, [things])));
      expect(done.flat()).toEqual(['CreateThings1790000000002']);
    } finally {
      await drop();
    }
  });

  it('leave nothing of a failed one, and what came before stays', async () => {
    const { url, drop } = await testDatabase('migrate', plumbingMigrations);
    const client = new Client({ connectionString: url });
    try {
      await expect(runMigrations(url, [broken, things])).rejects.toThrow('"things" already exists');
      await client.connect();
      const found = await client.query(`select to_regclass('halves') as half, to_regclass('things') as thing`);
      expect(found.rows).toEqual([{ half: null, thing: 'things' }]);
    } finally {
      await client.end();
      await drop();
    }
  });

  it('keep a process unready until they have run', async () => {
    const service = await startService({ migrations: [things] });
    try {
      const { dataSource } = service.database;
      await expect(service.module.get(Readiness).report()).resolves.toEqual({ ready: true, reasons: {} });
      await expect(pendingMigrations(dataSource, [things])).resolves.toEqual([]);
      await expect(pendingMigrations(dataSource, [things, broken])).resolves.toEqual(['BreakThings1790000000003']);
      await service.database.query('drop table migrations');
      await expect(pendingMigrations(dataSource, [])).resolves.toHaveLength(plumbingMigrations.length);
    } finally {
      await service.stop();
    }
  });
});
