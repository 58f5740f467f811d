/**
 * `npm run bench -- growth [parts of paths] [--rounds 5] [--count 100]`: measures lists of one project of 2,000 issues in two
 * estates, one with ten thousand issues and notes, the other with a million of each, in turn, one request at a time, through
 * the whole stack. The goal for each call: data of other projects increase the p50 by a factor of at most 1.15
 * (docs/performance.md 7). The exit code is 1 if a call misses it.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @import { Person } from './writer.mjs'
 * @typedef {{ reader: Person, words: Record<string, string | number> }} Seeded
 * @typedef {Record<string, Seeded & { baseUrl: string }>} Estates  by size
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { WITHOUT_RATES } from '../processes/environment.mjs';
import { startEstate } from '../processes/estate.mjs';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { freePort } from '../processes/process-records.mjs';
import { load } from './load.mjs';
import { makePerson, writerOf } from './writer.mjs';

const GOAL = 1.15;
const OWN = 2000;
/** Rows of issues and of notes. */
const SIZES = { few: 10_000, many: 1_000_000 };
/** Ids of other resources begin here. */
const OTHERS = 1_000_000;
const BATCH = 100_000;

/** Parts of the measured paths. Words in capitals are replaced by ids of the seed. */
const PROJECT = '/projects/PROJECT';
const FILTERS = [
  '',
  '?state=opened',
  '?state=closed',
  '?labels=Label 3',
  '?labels=None',
  '?labels=Any',
  '?not[labels]=Label 3',
  '?milestone=v3',
  '?milestone=None',
  '?milestone=Any',
  '?not[milestone]=v3',
  '?assignee_id=READER',
  '?assignee_id=None',
  '?assignee_id=Any',
  '?assignee_username[]=reader',
  '?author_id=READER',
  '?author_username=reader',
  '?not[author_id]=READER',
  '?scope=created_by_me',
  '?scope=assigned_to_me',
  '?weight=3',
  '?weight=None',
  '?weight=Any',
  '?my_reaction_emoji=rocket',
  '?my_reaction_emoji=None',
  '?due_date=overdue',
  '?due_date=week',
  '?due_date=0',
  '?confidential=true',
  '?issue_type=incident',
  '?iids[]=7',
  '?search=number 77',
  '?search=nowhere',
  '?created_after=CREATED',
  '?updated_after=CREATED',
  '?order_by=updated_at',
  '?order_by=due_date',
  '?order_by=weight',
  '?order_by=title',
  '?order_by=relative_position',
  '?order_by=label_priority',
  '?order_by=priority',
  '?order_by=milestone_due',
  '?order_by=popularity',
];
const HELD = [
  `${PROJECT}/issues/1/notes`,
  `${PROJECT}/issues/1/notes?sort=asc`,
  `${PROJECT}/issues/1/notes?order_by=updated_at`,
  `${PROJECT}/issues/1/notes?activity_filter=only_activity`,
  `${PROJECT}/issues/2/notes`,
  `${PROJECT}/issues/1/discussions`,
  `${PROJECT}/issues/1/award_emoji`,
  `${PROJECT}/issues/1/resource_label_events`,
  `${PROJECT}/issues/1/resource_state_events`,
  `${PROJECT}/issues/1/participants`,
  `${PROJECT}/issues/1/links`,
  ...FILTERS.map((filter) => `${PROJECT}/issues${filter}`),
  '/groups/GROUP/issues',
  '/groups/GROUP/issues?state=opened',
  '/groups/GROUP/issues?labels=Label 3',
  '/groups/GROUP/issues?search=number 77',
  '/issues',
  '/issues?scope=assigned_to_me',
  '/issues?scope=all&search=number 77',
  `${PROJECT}/labels`,
  `${PROJECT}/labels?search=3`,
  `${PROJECT}/labels?with_counts=true`,
  `${PROJECT}/milestones`,
  `${PROJECT}/milestones?search=v1`,
  `${PROJECT}/milestones/MILESTONE/issues`,
  '/groups/GROUP/epics',
  '/groups/GROUP/epics?state=opened',
  '/groups/GROUP/epics?labels=Label 3',
  '/groups/GROUP/epics?search=epic 77',
  '/groups/GROUP/epics?author_id=READER',
  '/groups/GROUP/epics?order_by=title',
  '/groups/GROUP/epics?my_reaction_emoji=rocket',
  '/snippets',
  `${PROJECT}/snippets`,
];

/**
 * Creates the resources of the project and of its group, and `total` rows altogether. Returns the reader, and maps
 * words in paths to ids.
 * @param {Estate} estate
 * @param {number} total
 * @returns {Promise<Seeded>}
 */
async function seedGrowthProject(estate, total) {
  const post = writerOf(estate);
  const reader = await makePerson(post, 'reader');
  const { id: group } = await post('/groups', { name: 'growth', path: 'growth' });
  const { id: project } = await post('/projects', { name: 'growth', namespace_id: group });
  await post(`/groups/${group}/members`, { user_id: reader.id, access_level: 30 });
  // The directory copy of the service must contain the project before rows are written to the database directly.
  await post(`/projects/${project}/issues`, { title: 'first' });
  const client = new pg.Client({ connectionString: estate.owners['collaboration'] });
  await client.connect();
  await client.query('set synchronous_commit = off');
  await client.query('delete from issues');
  // The index is built at the end: building it row by row takes several times as long.
  const { rows: trigrams } = await client.query(
    `select indexdef from pg_indexes where indexname = 'ix_issue_texts_text'`,
  );
  await client.query('drop index ix_issue_texts_text');
  await insertLabelsAndMilestones(client, { from: 1, to: 100, project: `${project}` });
  await insertLabelsAndMilestones(client, {
    from: 101,
    to: 101 + total / 100,
    project: `${OTHERS} + n % ${total / OWN}`,
  });
  await insertIssuesEpicsAndSnippets(client, {
    from: 1,
    to: OWN,
    project: `${project}`,
    group: `${group}`,
    reader: reader.id,
  });
  for (let from = OWN + 1; from <= total; from += BATCH) {
    const to = Math.min(total, from + BATCH - 1);
    const place = `${OTHERS} + n / ${OWN}`;
    await insertIssuesEpicsAndSnippets(client, { from, to, project: place, group: place, reader: OTHERS });
  }
  await client.query(trigrams[0].indexdef);
  await client.query('vacuum analyze');
  await client.end();
  return { reader, words: { PROJECT: project, GROUP: group, READER: reader.id, MILESTONE: 3, CREATED: daysAgo(1) } };
}

/** @param {number} days */
const daysAgo = (days) => new Date(Date.now() - days * 86_400_000).toISOString();

/**
 * Creates labels and milestones; those of the project have ids up to 100. `project` is an SQL expression over `n`.
 * @param {pg.Client} client
 * @param {{ from: number, to: number, project: string }} options
 */
async function insertLabelsAndMilestones(client, { from, to, project }) {
  await client.query(
    `insert into labels (id, project_id, title, description_html, color, text_color)
     select n, ${project}, 'Label ' || n, '', '#ff0000', '#ffffff' from generate_series($1::bigint, $2::bigint) n`,
    [from, to],
  );
  await client.query(
    `insert into milestones (id, project_id, iid, title, due_on)
     select n, ${project}, n, 'v' || n, current_date + (n % 300)::integer from generate_series($1::bigint, $2::bigint) n`,
    [from, to],
  );
}

/**
 * Creates issues with their attached rows, epics and snippets, by number. Those of the project have labels and milestones 1
 * to 100. `project` and `group` are SQL expressions over `n`; the reader is the author of a tenth.
 * @param {pg.Client} client
 * @param {{ from: number, to: number, project: string, group: string, reader: number }} options
 */
async function insertIssuesEpicsAndSnippets(client, { from, to, project, group, reader }) {
  const numbers = `generate_series(${from}::bigint, ${to}::bigint) n`;
  /** @param {string} other */
  const own = (other) => (from === 1 ? '1 + n % 100' : other);
  const user = `case when n % 10 = 0 then ${reader}::bigint else ${OTHERS} + n % 1000 end`;
  const statements = [
    `insert into issues (id, project_id, iid, author_id, title, description, state, closed_at, due_on, confidential,
       issue_type, weight, milestone_id, created_at, updated_at) overriding system value
     select n + ${OTHERS}, ${project}, 1 + (n - 1) % ${OWN}, ${user}, 'Issue number ' || n, 'Something about ' || n,
       case when n % 3 = 0 then 'closed' else 'opened' end, case when n % 3 = 0 then now() end,
       case when n % 5 = 0 then current_date - 100 + (n % 200)::integer end, n % 20 = 0,
       case when n % 50 = 0 then 'incident' else 'issue' end, case when n % 7 = 0 then n % 10 end,
       case when n % 4 = 0 then ${own('101 + n % 90')} end, now() - n * interval '1 minute', now() - n * interval '1 second'
     from ${numbers}`,
    `insert into issue_assignees (issue_id, user_id, position) select n + ${OTHERS}, ${user}, 1 from ${numbers}
     where n % 2 = 0`,
    `insert into label_links (noteable_type, noteable_id, label_id, project_id)
     select 'Issue', n + ${OTHERS}, ${own('101 + n % 90')}, ${project} from ${numbers} where n % 3 > 0`,
    `insert into resource_label_events (noteable_type, noteable_id, project_id, user_id, label_id, action, created_at)
     select 'Issue', n + ${OTHERS}, ${project}, 1, ${own('101 + n % 90')}, 'add', now() from ${numbers}`,
    `insert into resource_state_events (noteable_type, noteable_id, project_id, user_id, state, created_at)
     select 'Issue', n + ${OTHERS}, ${project}, 1, 'closed', now() from ${numbers}`,
    `insert into award_emoji (awardable_type, awardable_id, noteable_type, noteable_id, project_id, user_id, name)
     select 'Issue', n + ${OTHERS}, 'Issue', n + ${OTHERS}, ${project}, ${user}, 'rocket' from ${numbers}`,
    `insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, created_at, updated_at)
     select 'Issue', ${OTHERS} + case when n <= 20 then 1 when n <= 1000 then 2 else n end, ${project}, ${user},
       'A remark of ordinary length about this issue, number ' || n, n % 50 = 0, now() - n * interval '1 second',
       now() - n * interval '1 second' from ${numbers}`,
    `insert into epics (id, group_id, iid, author_id, title, state, closed_at, color, text_color, created_at, updated_at)
       overriding system value
     select n + ${OTHERS}, ${group}, n, ${user}, 'Epic ' || n, case when n % 3 = 0 then 'closed' else 'opened' end,
       case when n % 3 = 0 then now() end, '#fff', '#000', now() - n * interval '1 minute', now() - n * interval '1 second'
     from ${numbers} where n % 10 = 0`,
    `insert into snippets (id, project_id, author_id, title, visibility, created_at, updated_at) overriding system value
     select n + ${OTHERS}, case when n % 20 = 0 then ${project} end, ${user}, 'Snippet ' || n, 'private',
       now() - n * interval '1 minute', now() from ${numbers} where n % 10 = 0`,
  ];
  for (const statement of statements) await client.query(statement);
}

/** @param {number[]} values */
export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * p50 in both estates by size, measured in turn.
 * @param {Estates} estates
 * @param {string} target
 * @param {{ rounds: number, count: number }} options
 * @returns {Promise<Record<string, number>>}
 */
export async function compareEstateLatencies(estates, target, { rounds, count }) {
  /** @type {Record<string, number[]>} */
  const p50 = Object.fromEntries(Object.keys(estates).map((size) => [size, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [size, { baseUrl, reader, words }] of Object.entries(estates)) {
      const path = encodeURI(`/api/v4${target.replaceAll(/[A-Z]{4,}/g, (word) => String(words[word] ?? word))}`);
      const request = { method: 'GET', path, headers: { 'private-token': reader.token } };
      const result = await load(baseUrl, { concurrency: 1, count, next: () => request });
      if (result.bad > 0) throw new Error(`${result.bad} answers to GET ${path} were not 2xx`);
      p50[size]?.push(result.p50);
    }
  }
  return Object.fromEntries(Object.entries(p50).map(([size, values]) => [size, median(values)]));
}

/**
 * Starts an estate of each size, and seeds it.
 * @template {Seeded} T
 * @param {Record<string, number>} sizes
 * @param {(estate: Estate, total: number) => Promise<T>} fill
 */
export async function startSeededEstates(sizes, fill) {
  /** @type {Estate[]} */
  const started = [];
  /** @type {Record<string, T & { baseUrl: string }>} */
  const estates = {};
  const end = async () => {
    for (const estate of started) {
      await estate.stop();
      await estate.discard();
    }
  };
  try {
    for (const [size, total] of Object.entries(sizes)) {
      const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-'));
      const estate = await startEstate({ dataDir, port: await freePort(), env: WITHOUT_RATES });
      started.push(estate);
      estates[size] = { baseUrl: estate.baseUrl, ...(await fill(estate, total)) };
    }
  } catch (error) {
    await end();
    throw error;
  }
  return { estates, end };
}

/**
 * Measures and prints each call whose path contains one of the words. Resolves to whether every call met its goal.
 * @param {Estates} estates
 * @param {readonly string[]} targets
 * @param {{ goal: number, words: string[], rounds: number, count: number }} options
 */
export async function benchLatencyRatios(estates, targets, { goal, words, rounds, count }) {
  let isKept = true;
  for (const target of targets.filter((one) => words.length === 0 || words.some((word) => one.includes(word)))) {
    await compareEstateLatencies(estates, target, { rounds: 1, count: 20 });
    const { few = 0, many = 0 } = await compareEstateLatencies(estates, target, { rounds, count });
    if (many / few > goal) isKept = false;
    const cells = [few.toFixed(2), many.toFixed(2), `x ${(many / few).toFixed(2)}`].map((text) => text.padStart(10));
    console.log(`${many / few > goal ? '!' : ' '} ${target.padEnd(58)}${cells.join('')}`);
  }
  return isKept;
}

/**
 * Runs the benchmark. Resolves to whether every call met its goal. `words` select calls by parts of their paths.
 * @param {{ words: string[], rounds: number, count: number }} options
 */
export async function benchGrowth(options) {
  const { estates, end } = await startSeededEstates(SIZES, seedGrowthProject);
  try {
    console.log(`p50 in ms with ${SIZES.few} and ${SIZES.many} issues and notes, and their ratio (goal ${GOAL})`);
    return await benchLatencyRatios(estates, HELD, { goal: GOAL, ...options });
  } finally {
    await end();
  }
}
