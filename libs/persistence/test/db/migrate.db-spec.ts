import { Readiness } from '@rookery/platform';
import { testDatabase } from '@rookery/testing';
import { Client } from 'pg';
import { pendingMigrations, plumbingMigrations, runMigrations } from '../../src';
import type { MigrationClass } from '../../src';
import { startService } from '../support/service';

class CreateNests1790000000002 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('create table nests (id int)');
  }
}
class BreakNests1790000000003 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('create table halves (id int)');
    await runner.query('create table nests (id int)');
  }
}
const nests = CreateNests1790000000002 as unknown as MigrationClass;
const broken = BreakNests1790000000003 as unknown as MigrationClass;

describe('migrations', () => {
  it('run once when several processes migrate at the same time', async () => {
    const { url, drop } = await testDatabase('migrate', plumbingMigrations);
    try {
      const done = await Promise.all([1, 2, 3].map(() => runMigrations(url, [nests])));
      expect(done.flat()).toEqual(['CreateNests1790000000002']);
    } finally {
      await drop();
    }
  });

  it('roll a failed one back and keep those before it', async () => {
    const { url, drop } = await testDatabase('migrate', plumbingMigrations);
    const client = new Client({ connectionString: url });
    try {
      await expect(runMigrations(url, [broken, nests])).rejects.toThrow('"nests" already exists');
      await client.connect();
      const found = await client.query(`select to_regclass('halves') as half, to_regclass('nests') as nest`);
      expect(found.rows).toEqual([{ half: null, nest: 'nests' }]);
    } finally {
      await client.end();
      await drop();
    }
  });

  it('are reported as pending until they have run', async () => {
    const service = await startService({ migrations: [nests] });
    try {
      const { dataSource } = service.database;
      await expect(service.module.get(Readiness).runChecks()).resolves.toEqual({ ready: true, reasons: {} });
      await expect(pendingMigrations(dataSource, [nests])).resolves.toEqual([]);
      await expect(pendingMigrations(dataSource, [nests, broken])).resolves.toEqual(['BreakNests1790000000003']);
      await service.database.query('drop table migrations');
      await expect(pendingMigrations(dataSource, [])).resolves.toHaveLength(plumbingMigrations.length);
    } finally {
      await service.stop();
    }
  });
});
