/**
 * The data of docs/performance: 50 users, one project, 1,000 issues, 50,000 notes, to-dos for each user, and entries of
 * activity feeds.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @import { Person } from './writer.mjs'
 * @typedef {{ project: number, firstIssue: number, people: Person[] }} Data
 */
import pg from 'pg';
import { makePerson, writerOf } from './writer.mjs';

export const PEOPLE = 50;
export const ISSUES = 1000;
export const NOTES = 50_000;
const TODOS_A_PERSON = 100;

/**
 * Creates the data, with `entries` of the activity feed.
 * @param {Estate} estate
 * @param {{ entries?: number }} [options]
 * @returns {Promise<Data>}
 */
export async function seed(estate, { entries = 10_000 } = {}) {
  const call = writerOf(estate);
  /** @type {Person[]} */
  const people = [];
  for (let index = 0; index < PEOPLE; index += 1) people.push(await makePerson(call, `person${index}`));
  const group = await call('/groups', { name: 'bench', path: 'bench' });
  const { id: project } = await call('/projects', { name: 'bench', namespace_id: group.id });
  await call(`/projects/${project}/members`, { user_id: people.map(({ id }) => id).join(','), access_level: 30 });
  const first = await call(`/projects/${project}/issues`, { title: 'first', description: 'the first issue' });

  const client = new pg.Client({ connectionString: estate.owners['collaboration'] });
  await client.connect();
  const ids = people.map(({ id }) => id);
  await client.query(
    `insert into issues (project_id, iid, author_id, title, description, created_at, updated_at)
     select $1, n, ($2::bigint[])[1 + n % $3], 'Issue number ' || n, 'Something is to be done about number ' || n,
       now() - make_interval(mins => $4 - n), now() - make_interval(mins => $4 - n)
     from generate_series(2, $4) n`,
    [project, ids, PEOPLE, ISSUES],
  );
  // Issue 1 has 200 notes, the next hundred have 20 each, the others share the rest.
  await client.query(
    `insert into notes (noteable_type, noteable_id, project_id, author_id, body, created_at, updated_at)
     select 'Issue', i.id, $1, ($2::bigint[])[1 + n % $3], 'A remark of ordinary length about this issue, number ' || n
         || ': it says what was seen, what was expected, and what might be done next.',
       now() - make_interval(secs => ($4 - n) * 30), now() - make_interval(secs => ($4 - n) * 30)
     from generate_series(1, $4) n
     join issues i on i.project_id = $1 and i.iid = case
       when n <= 200 then 1 when n <= 2200 then 2 + (n - 201) / 20 else 102 + (n - 2201) % ($5 - 101) end`,
    [project, ids, PEOPLE, NOTES, ISSUES],
  );
  await client.query(
    `update issues i set public_notes_count = n.total
     from (select noteable_id, count(*) as total from notes group by noteable_id) n where n.noteable_id = i.id`,
  );
  await client.query(`update internal_ids set last_value = $2 where scope_id = $1 and usage = 'issues'`, [
    project,
    ISSUES,
  ]);
  await client.query(
    `insert into todos (user_id, author_id, action, project_id, target_type, target_id, note_id, source_event_id, created_at, updated_at)
     select u.id, n.author_id, 'mentioned', $1, 'Issue', n.noteable_id, n.id, gen_random_uuid(), n.created_at, n.created_at
     from unnest($2::bigint[]) with ordinality u (id, place)
     cross join lateral (select * from notes where project_id = $1 order by id limit $3 offset (u.place - 1) * $3) n`,
    [project, ids, TODOS_A_PERSON],
  );
  await insertActivityFeedEntries(client, { entries, project });
  await client.query('vacuum analyze');
  await client.end();
  return { project, firstIssue: first.id, people };
}

/**
 * Creates the feed of the project: of three entries, two are about comments, and one is about a closed issue. They are newer
 * than the entries that the seed itself caused.
 * @param {pg.Client} client
 * @param {{ entries: number, project: number }} options
 */
async function insertActivityFeedEntries(client, { entries, project }) {
  await client.query(
    `insert into activity_events (project_id, author_id, action, target_type, target_id, noteable_type, noteable_id,
       source_event_id, created_at)
     select $1, n.author_id, case when k % 3 = 0 then 'closed' else 'commented' end,
       case when k % 3 = 0 then 'Issue' else 'Note' end, case when k % 3 = 0 then n.noteable_id else n.id end,
       'Issue', n.noteable_id, gen_random_uuid(), now() + make_interval(secs => k)
     from generate_series(1, $2) k
     join lateral (select * from notes where id = 1 + (k - 1) % $3) n on true`,
    [project, entries, NOTES],
  );
}
