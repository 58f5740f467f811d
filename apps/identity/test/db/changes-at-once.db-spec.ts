import type { Response } from 'supertest';
import { LOGGED_KINDS, directoryRowStateSql } from '../../src/directory/change-states';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

/**
 * Concurrent changes of one small forest of groups, by all operations that change several rows. No request fails with
 * 5xx or hangs, and afterwards there is one tree in which rows, derived rows and the change log agree. This complements
 * the model test, which has one writer per forest.
 */
const WORKERS = 16;
const CHANGES = 60;
let identity: IdentityApp;
let people: readonly Person[];
/** The newest rows are changed, so that many changes conflict. */
const HOT = 12;
const groups: number[] = [];
const projects: number[] = [];
let seed = 20261121;
let serial = 0;

beforeAll(async () => {
  identity = await startIdentity();
  people = await Promise.all(['ada', 'bob', 'cyd', 'dan'].map((name) => identity.person(name)));
  for (let n = 0; n < 10; n += 1) await makeGroup(null);
  for (let n = 0; n < 6; n += 1) await makeProject(randomGroupId());
  await identity.root.post('/api/v4/topics').send({ name: 'eggs', title: 'Eggs' });
});
afterAll(() => identity.close());

function randomBelow(below: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % below;
}
function pickRandom<T>(all: readonly T[]): T {
  return all[randomBelow(all.length)]!;
}
const randomGroupId = () => pickRandom(groups.slice(-HOT));
const randomProjectId = () => pickRandom(projects.slice(-HOT));
const uniqueName = () => `n${++serial}`;
const randomLevel = () => pickRandom([10, 20, 30, 40, 50]);
const randomVisibility = () => pickRandom(['private', 'internal', 'public']);
async function makeGroup(parent: number | null): Promise<Response> {
  const path = uniqueName();
  const made = await identity.root
    .post('/api/v4/groups')
    .send({ name: path, path, visibility: randomVisibility(), ...(parent === null ? {} : { parent_id: parent }) });
  if (made.status === 201) groups.push(made.body.id);
  return made;
}
async function makeProject(home: number): Promise<Response> {
  const path = uniqueName();
  const made = await identity.root.post('/api/v4/projects').send({ name: path, path, namespace_id: home });
  if (made.status === 201) projects.push(made.body.id);
  return made;
}

const randomGroupPath = () => `/api/v4/groups/${randomGroupId()}`;
const randomProjectPath = () => `/api/v4/projects/${randomProjectId()}`;
const randomSourcePath = () => (randomBelow(2) ? randomGroupPath() : randomProjectPath());
const randomUserId = () => pickRandom(people).id;

/**
 * Each operation is a request by an administrator. Refusals are valid answers, because the target may be deleted or
 * already changed.
 */
const CALLS: readonly (() => PromiseLike<Response>)[] = [
  () => makeGroup(randomGroupId()),
  () => makeGroup(randomGroupId()),
  () => makeProject(randomGroupId()),
  () => identity.root.put(randomGroupPath()).send({ path: uniqueName() }),
  () => identity.root.put(randomGroupPath()).send({ path: uniqueName(), name: uniqueName() }),
  () => identity.root.put(randomSourcePath()).send({ visibility: randomVisibility() }),
  () =>
    identity.root
      .put(randomProjectPath())
      .send({ path: uniqueName(), topics: pickRandom(['eggs', 'nests', 'eggs,nests']) }),
  () => identity.root.post(`${randomGroupPath()}/transfer`).send(randomBelow(3) ? { group_id: randomGroupId() } : {}),
  () => identity.root.put(`${randomProjectPath()}/transfer`).send({ namespace: randomGroupId() }),
  () =>
    identity.root
      .post(`${randomSourcePath()}/members`)
      .send({ user_id: people.map(({ id }) => id).join(','), access_level: randomLevel() }),
  () =>
    identity.root.post(`${randomSourcePath()}/members`).send({ user_id: randomUserId(), access_level: randomLevel() }),
  () => identity.root.put(`${randomSourcePath()}/members/${randomUserId()}`).send({ access_level: randomLevel() }),
  () => identity.root.delete(`${randomSourcePath()}/members/${randomUserId()}`),
  () =>
    identity.root.post(`${randomSourcePath()}/share`).send({ group_id: randomGroupId(), group_access: randomLevel() }),
  () => identity.root.delete(`${randomSourcePath()}/share/${randomGroupId()}`),
  () => pickRandom(people).client.post(`${randomSourcePath()}/access_requests`),
  () => identity.root.put(`${randomSourcePath()}/access_requests/${randomUserId()}/approve`),
  () => pickRandom(people).client.post(`${randomProjectPath()}/star`),
  () => pickRandom(people).client.post(`${randomProjectPath()}/unstar`),
  () =>
    identity.root
      .post(`${randomProjectPath()}/fork`)
      .send({ namespace_id: randomGroupId(), path: uniqueName(), name: uniqueName() }),
  () => identity.root.post(`${randomProjectPath()}/${pickRandom(['archive', 'unarchive'])}`),
  () => identity.root.delete(randomSourcePath()),
  () => identity.root.post(`${randomSourcePath()}/restore`),
  () =>
    identity.root
      .post(`${randomSourcePath()}/access_tokens`)
      .send({ name: uniqueName(), scopes: ['api'], expires_at: '2027-01-01' }),
  () => identity.root.post(`/api/v4/users/${randomUserId()}/${pickRandom(['block', 'unblock', 'ban', 'unban'])}`),
];

/** Statements that find rows which disagree with their source. */
const DISAGREEMENTS: Readonly<Record<string, string>> = {
  'paths and names of groups': `with recursive tree as (
      select id, array[id] as ids, name::text as full_name, path::text as full_path from namespaces where parent_id is null
      union all select n.id, tree.ids || n.id, tree.full_name || ' / ' || n.name, tree.full_path || '/' || n.path
      from tree join namespaces n on n.parent_id = tree.id)
    select n.id from namespaces n left join tree on tree.id = n.id
    where (tree.ids, tree.full_name, tree.full_path) is distinct from (n.traversal_ids, n.full_name, n.full_path)`,
  'ancestors of groups': `select coalesce(a.namespace_id, t.id) as id from namespace_ancestors a
    full join (select n.id, unnest(n.traversal_ids) as ancestor, n.name, n.path from namespaces n) t
      on t.id = a.namespace_id and t.ancestor = a.ancestor_id
    where (t.name, t.path) is distinct from (a.name, a.path)`,
  'contents of a group that are more visible than it': `select n.id from namespaces n join namespaces up on up.id = n.parent_id
      where array_position(array['private', 'internal', 'public'], n.visibility)
        > array_position(array['private', 'internal', 'public'], up.visibility)
    union all select p.id from projects p join namespaces up on up.id = p.namespace_id and up.kind = 'group'
      where array_position(array['private', 'internal', 'public'], p.visibility)
        > array_position(array['private', 'internal', 'public'], up.visibility)`,
  'group columns of memberships': `select m.id from members m join namespaces n on n.id = m.source_id
    where m.source_type = 'namespace' and (m.source_name, m.source_path, m.source_at_top, m.leads_further) is distinct from
      (n.name, n.path, n.parent_id is null, exists (select 1 from leading_namespaces l where l.namespace_id = n.id))`,
  'groups that lead further': `select parent_id as id from namespaces where parent_id is not null
      and parent_id not in (select namespace_id from leading_namespaces)
    union all select group_id from shares where group_id not in (select namespace_id from leading_namespaces)`,
  stars: `select p.id from projects p
    where p.star_count <> (select count(*) from project_stars s where s.project_id = p.id)`,
};

it('hundreds of concurrent changes never fail and leave one tree', async () => {
  const worker = async (): Promise<Response[]> => {
    const answers: Response[] = [];
    for (let n = 0; n < CHANGES; n += 1) answers.push(await pickRandom(CALLS)());
    return answers;
  };
  const answers = (await Promise.all(Array.from({ length: WORKERS }, worker))).flat();
  const failures = answers.filter(({ status }) => status >= 500).map(({ status, text }) => `${status} ${text}`);
  expect(failures).toEqual([]);
  // Enough of the changes had an effect.
  expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThan((WORKERS * CHANGES) / 4);
  for (const [what, statement] of Object.entries(DISAGREEMENTS)) {
    expect([what, await identity.db.query(statement, [])]).toEqual([what, []]);
  }
});

const TABLES = { user: 'users', namespace: 'namespaces', project: 'projects', membership: 'members', share: 'shares' };

it.each(LOGGED_KINDS)('the change log ends with the state of each %s', async (kind) => {
  const wrong = await identity.db.query(
    `select coalesce(now_.id, logged.id) as id from (select t.id, ${directoryRowStateSql(kind, 't')} as state from ${TABLES[kind]} t) now_
     full join (select distinct on (entity_id) entity_id as id, state from directory_changes where kind = $1
       order by entity_id, version desc, ordinal desc) logged on logged.id = now_.id
     where now_.state is distinct from logged.state`,
    [kind],
  );
  expect(wrong).toEqual([]);
});
