/**
 * Sabotage of servers: changes of databases and of the bus that remove a safeguard outside of the product's code.
 *
 * @import { Estate } from '../processes/estate.mjs'
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/**
 * Changes by the name that `--sabotage` takes.
 * @type {Record<string, (estate: Estate) => Promise<void>>}
 */
export const SERVER_SABOTAGE = {
  'no-uniqueness': dropEffectUniqueIndexes,
  'open-door': permitAllSubjects,
  'contracting-migration': renameLabelColorColumn,
};

/**
 * Drops the second safeguard of effects: the unique keys of to-dos, events and e-mails.
 * @param {Estate} estate
 */
async function dropEffectUniqueIndexes(estate) {
  const tables = ['todos', 'activity_events', 'mails', 'pipeline_mails', 'place_mails'];
  await changeCollaborationSchema(
    estate,
    tables.map((table) => `drop index uq_${table}_source_event_id`),
  );
}

/**
 * Renames a column that the previous release uses, as no migration may.
 * @param {Estate} estate
 */
function renameLabelColorColumn(estate) {
  return changeCollaborationSchema(estate, ['alter table labels rename column color to colour']);
}

/**
 * Runs statements in the database of collaboration, as the owner of its tables.
 * @param {Estate} estate
 * @param {string[]} statements
 */
async function changeCollaborationSchema({ owners }, statements) {
  const client = new pg.Client({ connectionString: owners['collaboration'] });
  await client.connect();
  for (const text of statements) await client.query(text);
  await client.end();
}

/**
 * Permits every account of the bus to use all subjects.
 * @param {Estate} estate
 */
async function permitAllSubjects({ dataDir, nats }) {
  const file = join(dataDir, 'nats/users.conf');
  const users = readFileSync(file, 'utf8').replaceAll(/\n {6}permissions: \{[\s\S]*?\n {6}\}/g, '');
  writeFileSync(file, users);
  process.kill(Number(nats?.pid), 'SIGHUP');
}
