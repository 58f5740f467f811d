import { Invalid } from '@rookery/kernel';
import { testDatabase, untilBlocked } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { migrations } from '../../src/database';
import { ProjectTopicsService } from '../../src/topics/project-topics.service';
import { TopicMergeService } from '../../src/topics/topic-merge.service';
import { DirectoryLog } from '../directory-log';

/** Counts of topics are exact, whatever assignments are made concurrently. Source: ADR 0110. */
let database: TestDatabase;
let identity: DirectoryLog;
const topics = new ProjectTopicsService();
beforeAll(async () => {
  database = await testDatabase('identity', migrations);
  identity = await DirectoryLog.start(database.url);
  await query(
    `insert into namespaces (id, kind, traversal_ids, name, path, full_name, full_path, visibility, plan)
     values (1, 'group', '{1}', 'G', 'g', 'G', 'g', 'public', 'free')`,
  );
});
afterAll(async () => {
  await identity.stop();
  await database.drop();
});

const query = <R>(sql: string, values: readonly unknown[] = []) => identity.database.query<R>(sql, values);
let serial = 0;
async function insertProject(visibility = 'public'): Promise<number> {
  const path = `p${++serial}`;
  const [row] = await query<{ id: number }>(
    `insert into projects (namespace_id, name, path, visibility) values (1, $1, $1, $2) returning id`,
    [path, visibility],
  );
  return row!.id;
}
const assignTopics = (id: number, ...names: string[]) => identity.work.run((tx) => topics.assignTopics(tx, id, names));
const listTopicNames = async (id: number) =>
  (
    await query<{ name: string }>(
      `select t.name from project_topics a join topics t on t.id = a.topic_id where a.project_id = $1 order by a.position`,
      [id],
    )
  ).map((row) => row.name);
async function readTopicCounts(name: string): Promise<[number, number] | null> {
  const [row] = await query<{ total: number; open: number }>(
    `select total_projects_count as total, open_projects_count as open from topics where lower(name) = lower($1)`,
    [name],
  );
  return row ? [row.total, row.open] : null;
}
/** Counts that disagree with the assignments. */
const findWrongCounters = () =>
  query(`select t.name from topics t left join project_topics a on a.topic_id = t.id left join projects p on p.id = a.project_id
    group by t.id having t.total_projects_count <> count(p.id)
      or t.open_projects_count <> count(p.id) filter (where p.visibility <> 'private')
      or bool_or(a.is_open <> (p.visibility <> 'private'))`);

it('creates missing topics with their name as title and keeps the order', async () => {
  const id = await insertProject();
  await assignTopics(id, ' Zebra ', 'ant', '', 'ZEBRA', 'Ärmel', 'ärmel');
  expect((await listTopicNames(id)).slice(0, 3)).toEqual(['Zebra', 'ant', 'Ärmel']);
  expect(await query(`select title from topics where name = 'Zebra'`)).toEqual([{ title: 'Zebra' }]);
  await assignTopics(id, 'ant', 'zebra', 'new');
  expect(await listTopicNames(id)).toEqual(['ant', 'Zebra', 'new']);
  expect([await readTopicCounts('ant'), await readTopicCounts('zebra'), await readTopicCounts('Ärmel')]).toEqual([
    [1, 1],
    [1, 1],
    [0, 0],
  ]);
  await assignTopics(id);
  expect([await listTopicNames(id), await readTopicCounts('ant')]).toEqual([[], [0, 0]]);
});

it('refuses the whole list for an invalid name', async () => {
  const id = await insertProject();
  await assignTopics(id, 'kept');
  await expect(assignTopics(id, 'fine', 'x'.repeat(256), 'a\nb')).rejects.toEqual(
    new Invalid({
      topics: ['is too long (maximum is 255 characters)', 'has characters that are not allowed'],
    }),
  );
  expect([await listTopicNames(id), await readTopicCounts('fine')]).toEqual([['kept'], null]);
});

it('updates the counts when a project is published, made private or removed', async () => {
  const [one, two] = [await insertProject('private'), await insertProject('internal')];
  await assignTopics(one, 'seen', 'also');
  await assignTopics(two, 'seen');
  expect(await readTopicCounts('seen')).toEqual([2, 1]);
  await query(`update projects set visibility = 'public' where id = any($1)`, [[one, two]]);
  expect([await readTopicCounts('seen'), await readTopicCounts('also')]).toEqual([
    [2, 2],
    [1, 1],
  ]);
  await query(`update projects set visibility = 'private' where id = any($1)`, [[one, two]]);
  expect(await readTopicCounts('seen')).toEqual([2, 0]);
  await query(`delete from projects where id = any($1)`, [[one, two]]);
  expect([await readTopicCounts('seen'), await readTopicCounts('also')]).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

it('keeps exact counts under concurrent assignments, changes of visibility, removals and merges', async () => {
  const merge = new TopicMergeService(identity.work);
  const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => insertProject(i % 2 ? 'private' : 'public')));
  const pool = ['t1', 't2', 't3', 't4', 't5'];
  const some = (i: number) => pool.filter((_, j) => (i * 7 + j * 3) % 4 < 2).sort(() => (i % 2 ? 1 : -1));
  const mergeTwo = async (from: string, into: string) => {
    const rows = await query<{ id: number; name: string }>(`select id, name from topics where name = any($1)`, [
      [from, into],
    ]);
    const of = (name: string) => rows.find((row) => row.name === name)?.id;
    if (of(from) && of(into)) await merge.mergeTopics(of(from)!, of(into)!).catch(() => undefined);
  };
  await Promise.all(
    ids.flatMap((id, i) => [
      assignTopics(id, ...some(i)),
      assignTopics(id, ...some(i + 1)),
      identity.work.run((tx) =>
        tx.query(`update projects set visibility = $2 where id = $1`, [id, i % 3 ? 'internal' : 'private']),
      ),
      i % 4 === 0 ? mergeTwo('t1', 't2') : assignTopics(id, 't1'),
      i % 5 === 0
        ? identity.work.run((tx) => tx.query(`delete from projects where id = $1`, [id]))
        : assignTopics(id, 't5', 't1'),
    ]),
  );
  expect(await findWrongCounters()).toEqual([]);
  // Whichever assignment came last, the project has topics; and the changes had an effect.
  expect(
    await query(`select id from projects where id = any($1) and id not in (select project_id from project_topics)`, [
      ids,
    ]),
  ).toEqual([]);
  expect((await query(`select 1 from projects where id = any($1)`, [ids])).length).toBe(9);
});

it('loses no assignment to a concurrent merge', async () => {
  const [early, late] = [await insertProject(), await insertProject()];
  await assignTopics(early, 'going', 'staying');
  await identity.work.run((tx) => topics.assignTopics(tx, early, ['going']));
  const rows = await query<{ id: number; name: string }>(
    `select id, name from topics where name in ('going', 'staying')`,
  );
  const idOf = (name: string) => rows.find((row) => row.name === name)!.id;
  const blocked = (count: number) => untilBlocked(query, count);
  let [begin, end] = [(): void => undefined, (): void => undefined];
  const held = new Promise<void>((resolve) => (begin = resolve));
  const gate = new Promise<void>((resolve) => (end = resolve));
  const holding = identity.work.run(async (tx) => {
    await tx.query(`select 1 from project_topics where project_id = $1 for update`, [early]);
    begin();
    await gate;
  });
  await held;
  const merging = new TopicMergeService(identity.work).mergeTopics(idOf('going'), idOf('staying'));
  await blocked(1);
  const assigning = assignTopics(late, 'going');
  await blocked(2);
  end();
  await Promise.all([holding, merging, assigning]);
  expect([await listTopicNames(early), await listTopicNames(late)]).toEqual([['staying'], ['going']]);
  expect(await findWrongCounters()).toEqual([]);
});

it('keeps the avatar of a topic as long as the topic', async () => {
  await assignTopics(await insertProject(), 'pictured');
  await query(
    `insert into avatars (topic_id, filename, media_type, digest, bytes)
     select id, 'a.png', 'image/png', 'x', '' from topics where name = 'pictured'`,
  );
  await query(`delete from topics where name = 'pictured'`);
  expect(await query(`select 1 from avatars`)).toEqual([]);
});
