import type { ProjectScope } from '@rookery/api-v4';
import { ListQuery, Work } from '@rookery/persistence';
import { statementOf } from '@rookery/testing';
import type { Planned } from '@rookery/testing';
import { badges } from '../../src/badges/badges.controller';
import { customAttributesFilter } from '../../src/custom-attributes/custom-attributes-sql';
import { startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';

/** Number of projects that the statements do not ask for. */
const OTHERS = 5000;
let identity: IdentityApp;
beforeAll(async () => {
  identity = await startIdentity();
  const { db } = identity;
  const ada = await identity.person('ada');
  await db.query(
    `insert into projects (namespace_id, creator_id, name, path, visibility)
     select $1, $2, 'p' || n, 'p' || n, 'private' from generate_series(1, ${OTHERS}) n`,
    [ada.namespaceId, ada.id],
  );
  await db.query(
    `insert into badges (project_id, link_url, image_url) select id, 'https://a', 'https://b' from projects`,
  );
  await db.query(
    `insert into badges (namespace_id, link_url, image_url) select $1, 'https://a', 'https://b' from generate_series(1, 20)`,
    [ada.namespaceId],
  );
  await db.query(
    `insert into custom_attributes (project_id, key, value) select id, 'team', 'team ' || (id % 500) from projects`,
  );
  await db.query(
    `insert into avatars (project_id, filename, media_type, digest, bytes)
     select id, 'a.png', 'image/png', 'd', '\\x89' from projects`,
  );
  await db.query('analyze projects, badges, custom_attributes, avatars');
});
afterAll(() => identity.close());

async function explain(planned: Planned): Promise<string> {
  const { text, values } = typeof planned === 'function' ? await statementOf(planned) : planned;
  const rows = await identity.db.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

it('badges of a project and its groups are found by their indexes', async () => {
  const within = { kind: 'project', id: 77, namespace: { traversalIds: [1, 2, 3] } } as unknown as ProjectScope;
  const work = identity.app.get(Work);
  const plan = await explain((db) => badges.on(work, db).list({ page: { page: 1, perPage: 20 }, within }));
  expect(plan).toContain('ix_badges_project_id');
  expect(plan).toContain('ix_badges_namespace_id');
  expect(plan).not.toContain('Seq Scan');
});

it('projects with a custom attribute are found by its value', async () => {
  const list = new ListQuery<object>({ name: 'attributed', from: 'projects p', columns: 'p.id' });
  list.narrow({ wanted: customAttributesFilter('project', 'p.id') }, { wanted: { team: 'team 7' } });
  const plan = await explain((db) => list.readRows(db, 20));
  expect(plan).toContain('ix_custom_attributes_key_value');
  expect(plan).not.toContain('Seq Scan');
});

it('an avatar is found by its project', async () => {
  const plan = await explain({ text: 'select bytes from avatars where project_id = $1', values: [77] });
  expect(plan).toContain('uq_avatars_project_id');
});
