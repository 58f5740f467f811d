import { join } from 'node:path';
import { Pool } from 'pg';
import { Work } from '@rookery/persistence';
import { expectPlan, vacuumUntilVisible } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { labels } from '../../src/planning/labels/labels.service';
import { startCollaboration } from '../support/app';

let service: SeededService;
let pool: Pool;
beforeAll(async () => {
  service = await startCollaboration();
  pool = new Pool({ connectionString: service.databaseUrl, max: 1 });
  await pool.query(`
    insert into labels (id, project_id, group_id, title, description_html, color, text_color)
      select g, case when g % 10 > 0 then 1 + g % 400 end, case when g % 10 = 0 then 1 + g % 300 end, 'Label ' || g, '',
        '#fff', '#000' from generate_series(1, 20000) g`);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await service.close();
});

test.each([
  ['labels/labels-of-project', { kind: 'project', id: 2, namespace: { id: 2, traversalIds: [1, 2] } }],
  ['labels/labels-of-group', { kind: 'group', id: 2, traversalIds: [1, 2] }],
])('%s keeps its plan', async (name, within) => {
  const work = service.app.get(Work);
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), (db) =>
    labels.on(work, db).list({ page: { page: 1, perPage: 20 }, within: within as never, filters: {} }),
  );
  expect(shape).not.toContain('Seq Scan on labels');
});

// The first statement measures the page with the same limits as the second one.
test('a label search reads only labels of the project and its groups', async () => {
  const work = service.app.get(Work);
  const within = { kind: 'project', id: 2, namespace: { id: 2, traversalIds: [1, 2] } } as never;
  const shape = await expectPlan(pool, join(__dirname, '../golden/labels/labels-searched'), (db) =>
    labels.on(work, db).list({ page: { page: 1, perPage: 20 }, within, filters: { search: 'egg' } }),
  );
  expect(shape).not.toContain('Seq Scan on labels');
});
