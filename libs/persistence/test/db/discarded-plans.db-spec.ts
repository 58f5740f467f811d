import { SteadyClient } from '../../src/connections/steady-client';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

describe('discarded plans', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({});
  });
  afterAll(() => service.stop());

  it('are replaced now and then by plans for the current table sizes', async () => {
    const client = new SteadyClient({
      connectionString: service.url,
      options: '-c plan_cache_mode=force_generic_plan',
    });
    await client.connect();
    try {
      await client.query('create table eggs (id bigint primary key, warm boolean not null)');
      const find = { name: 'find', text: 'select warm from eggs where id = any($1::bigint[])', values: [[1]] };
      const plan = async () => {
        await client.query(find);
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute find('{1}')`);
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      };
      await client.query('insert into eggs values (0, true)');
      await client.query('analyze eggs');
      expect(await plan()).toContain('Seq Scan on eggs');
      await client.query('insert into eggs select n, true from generate_series(1, 50000) n');
      // No statistics were gathered since, so the server keeps the plan for a nearly empty table.
      expect(await plan()).toContain('Seq Scan on eggs');
      await Promise.all(Array.from({ length: 64 }, () => client.query('select 1')));
      expect(await plan()).toMatch(/Index (Only )?Scan .*eggs_pkey/);
    } finally {
      await client.end();
    }
  });

  it('cause no further failure in an aborted transaction', async () => {
    const client = new SteadyClient({ connectionString: service.url });
    await client.connect();
    try {
      await client.query('begin');
      await expect(client.query('select nothing')).rejects.toThrow(/nothing/);
      for (let count = 0; count < 64; count += 1) await expect(client.query('select 1')).rejects.toThrow(/aborted/);
      await client.query('rollback');
      await expect(client.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
    } finally {
      await client.end();
    }
  });
});
