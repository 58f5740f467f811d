/**
 * `npm run bench -- groups|projects [--rounds 5] [--count 300]`: measures lists of groups in an estate with 50,000 groups, or
 * of projects with one in each group, for users who belong to 5,000 of them in three ways. The same call of a user who
 * belongs to 100 is the reference; requests are sent in turn, one at a time, through the whole stack. The goal is a p50 of at
 * most twice the reference (docs/performance.md 2). The exit code is 1 if a call with the goal misses it.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @import { Person } from './writer.mjs'
 * @typedef {Record<string, Person>} PeopleByWay  by way
 * @typedef {{ held: string[], shown: string[], totals: Record<string, number>, whole: string }} BenchedList
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

const GOAL = 2;
const GROUPS = 50_000;
const MANY = 5000;
const FEW = 100;
/** Ways of membership: few groups; 5,000 spread over all names, or at the end of the names; or one group above 5,000. */
const WAYS = ['few', 'spread', 'last', 'inherited'];
/**
 * Calls with a goal, calls that are only shown, and the number of rows of each way.
 * @type {Record<string, BenchedList>}
 */
const LISTS = {
  groups: {
    held: [
      '',
      '?per_page=100',
      '?sort=desc',
      '?page=3',
      '?owned=true',
      '?min_access_level=30',
      '?order_by=path',
      '?order_by=path&owned=true',
      '?order_by=id',
      '?top_level_only=true',
    ],
    shown: ['?all_available=true', '?search=group 0123'],
    totals: { few: FEW, inherited: MANY + 1 },
    whole: '/groups',
  },
  projects: {
    held: ['?membership=true', '?membership=true&per_page=100', '?membership=true&order_by=last_activity_at', ''],
    shown: [
      '?owned=true',
      '?min_access_level=30',
      '?membership=true&order_by=name',
      '?membership=true&search=project-01',
    ],
    totals: { few: FEW },
    whole: '/projects?membership=true',
  },
};

/**
 * Creates the data. Groups and memberships are written to the database directly: 55,000 calls would take longer than the
 * benchmark.
 * @param {Estate} estate
 */
async function seedGroupsAndMembers(estate) {
  const post = writerOf(estate);
  /** @type {PeopleByWay} */
  const people = {};
  for (const way of WAYS) people[way] = await makePerson(post, way);
  const client = new pg.Client({ connectionString: estate.owners['identity'] });
  await client.connect();
  const { id: root } = await post('/groups', { name: 'a root', path: 'a-root' });
  // Most groups have no parent, every ninth is below the fourth before it, the last 5,000 below one root. Names are shuffled.
  await client.query(
    `insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
     select $4 + n, 'group', parent, array_remove(array[parent, $4 + n], null), 'Group ' || lpad((n * 7919 % $1)::text, 5, '0'),
       'group-' || n, 'Group ' || n, case parent when $3 then 'a-root/' else '' end || 'group-' || n, 'private', 'ultimate'
     from (select n::bigint, case when n > $2 then $3::bigint when n % 9 = 0 then $4::bigint + n - 4 end as parent
       from generate_series(1, $1::integer) n) made order by n`,
    [GROUPS, GROUPS - MANY, root, 1_000_000],
  );
  await client.query(
    `insert into projects (namespace_id, creator_id, name, path, visibility)
     select n.id, $1, 'Project ' || n.id, 'project-' || n.id, case when n.id % 10 = 0 then 'internal' else 'private' end
     from namespaces n where n.kind = 'group' and n.id <> $2 order by n.id`,
    [people['few']?.id, root],
  );
  /** @type {(way: string, level: number, ids: string, values?: unknown[]) => Promise<unknown>} */
  const join = (way, level, ids, values = []) =>
    client.query(
      `insert into members (user_id, source_type, source_id, access_level) select $1, 'namespace', id, ${level} from (${ids}) ids`,
      [people[way]?.id, ...values],
    );
  const alone = `select id, name, row_number() over (order by id) as n from namespaces where kind = 'group' and id <> ${root}
    and parent_id is null and not exists (select 1 from namespaces c where c.parent_id = namespaces.id)`;
  await join('few', 50, `select id from (${alone}) a where n % 300 = 0 order by n limit $2`, [FEW]);
  await join('spread', 50, `select id from (${alone}) a where n % 7 = 0 order by n limit $2`, [MANY]);
  await join('last', 50, `select id from (${alone}) a order by name desc limit $2`, [MANY]);
  await join('inherited', 50, `select ${root}::bigint as id`);
  await client.query('vacuum analyze');
  await client.end();
  return people;
}

/** @param {number[] | undefined} values */
const median = (values = []) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * p50 of each way, measured in turn.
 * @param {Estate} estate
 * @param {PeopleByWay} people
 * @param {string} target
 * @param {{ rounds: number, count: number }} options
 * @returns {Promise<Record<string, number>>}
 */
async function measureP50ByMembershipWay(estate, people, target, { rounds, count }) {
  /** @type {Record<string, number[]>} */
  const p50 = Object.fromEntries(WAYS.map((way) => [way, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const way of WAYS) {
      const headers = { 'private-token': people[way]?.token ?? '' };
      const request = { method: 'GET', path: encodeURI(`/api/v4${target}`), headers };
      const result = await load(estate.baseUrl, { concurrency: 1, count, next: () => request });
      if (result.bad > 0) throw new Error(`${result.bad} answers to GET ${target} were not 2xx`);
      p50[way]?.push(result.p50);
    }
  }
  return Object.fromEntries(WAYS.map((way) => [way, median(p50[way])]));
}

/**
 * Checks the totals of all ways before the measurement.
 * @param {Estate} estate
 * @param {PeopleByWay} people
 * @param {Pick<BenchedList, 'whole' | 'totals'>} list
 */
async function checkListTotalsByMembershipWay(estate, people, { whole, totals }) {
  for (const [way, { token }] of Object.entries(people)) {
    const response = await fetch(`${estate.baseUrl}/api/v4${whole}`, { headers: { 'private-token': token } });
    const total = Number(response.headers.get('x-total'));
    const wanted = totals[way] ?? MANY;
    if (total !== wanted) throw new Error(`${way}: ${whole} counts ${total} instead of ${wanted}`);
  }
}

/**
 * Runs the benchmark. Resolves to whether every call met its goal. `name` is one of `BELONGING_LISTS`.
 * @param {string} name
 * @param {{ rounds: number, count: number }} options
 */
export async function benchMembershipLists(name, { rounds, count }) {
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: WITHOUT_RATES });
  const { held, shown, ...list } = /** @type {BenchedList} */ (LISTS[name]);
  try {
    const people = await seedGroupsAndMembers(estate);
    await checkListTotalsByMembershipWay(estate, people, list);
    await measureP50ByMembershipWay(estate, people, `/${name}${held[0]}`, { rounds: 1, count: 200 });
    console.log(`p50 in ms, and as a ratio to the user with ${FEW} groups (goal for the calls marked *: ${GOAL})`);
    console.log(`${`GET /${name}`.padEnd(44)} ${WAYS.map((way) => way.padStart(18)).join('')}`);
    let isKept = true;
    for (const query of [...held, ...shown]) {
      const p50 = await measureP50ByMembershipWay(estate, people, `/${name}${query}`, { rounds, count });
      /** @param {string} way */
      const of = (way) => p50[way] ?? 0;
      const ratios = WAYS.map((way) => of(way) / of('few'));
      if (held.includes(query) && ratios.some((ratio) => ratio > GOAL)) isKept = false;
      const cells = WAYS.map((way, at) => `${of(way).toFixed(2)} x ${ratios[at]?.toFixed(2)}`.padStart(18));
      console.log(`${`${held.includes(query) ? '*' : ' '} ${query}`.padEnd(44)} ${cells.join('')}`);
    }
    return isKept;
  } finally {
    await estate.stop();
    await estate.discard();
  }
}

export const BELONGING_LISTS = Object.keys(LISTS);
