/**
 * The same calls in both layouts: status, headers in their order and bodies are equal, except for values that differ from
 * one run to the next. One data folder is started in one process and then in six, so it may change its layout (ADR 0197).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WITHOUT_RATES } from '../environment.mjs';
import { startEstate } from '../estate.mjs';
import { discardPostgres, sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { freePort } from '../process-records.mjs';

/**
 * @typedef {{ as?: string | null, json?: object, body?: string | Buffer, headers?: Record<string, string>,
 *   until?: (body: any) => boolean, hasIds?: boolean }} More  `as`: the token, null for none; `until` accepts an answer that
 *   follows an event; `hasIds`: false where ids depend on the order in which events arrive
 * @typedef {[method: string, path: string, more?: More]} Call
 * @typedef {{ status: number | undefined, headers: string[], text: string }} Answer
 */
const ROOT_TOKEN = 'glpat-root-of-both-layouts';
const ROOKERY = fileURLToPath(new URL('../../cli/rookery.mjs', import.meta.url));
const folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-layouts-'));
const dataDir = join(folder, 'data');
const port = await freePort();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const api = '/api/v4';
const eggs = `${api}/projects/root%2Feggs`;
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const boundary = 'nest';
const multipart = { 'content-type': `multipart/form-data; boundary=${boundary}` };
/** @type {(name: string, content: string) => string} */
const multipartUpload = (name, content) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: text/plain\r\n\r\n${content}\r\n--${boundary}--\r\n`;
/** @type {(body: any) => boolean} */
const hasRows = (body) => Array.isArray(body) && body.length > 0;

/** @type {Call[]} */
const CALLS = [
  // The gateway itself.
  ['GET', '/-/health/ready', { as: null }],
  ['GET', `${api}/version`],
  ['GET', `${api}/version`, { as: null }],
  ['GET', `${api}/user`, { as: 'glpat-unknown-token-000' }],
  ['GET', `${api}/nothing-here`],
  ['PATCH', `${api}/user`],
  ['GET', '/-/sign_in', { as: null, headers: { accept: 'text/html' } }],
  ['GET', '/root/eggs', { as: null, headers: { accept: 'text/html' } }],
  ['GET', '/favicon.ico', { as: null }],
  ['OPTIONS', `${api}/projects`, { as: null, headers: { origin: 'https://example.com' } }],
  // Users, groups, projects and members.
  ['GET', `${api}/user`],
  ['HEAD', `${api}/user`],
  [
    'POST',
    `${api}/users`,
    { json: { username: 'wren', name: 'Wren', email: 'wren@example.com', force_random_password: true } },
  ],
  [
    'POST',
    `${api}/users`,
    { json: { username: 'wren', name: 'Wren', email: 'wren@example.com', force_random_password: true } },
  ],
  ['POST', `${api}/users`, { json: { username: '' } }],
  ['POST', `${api}/users/2/personal_access_tokens`, { json: { name: 'bot', scopes: ['api'] } }],
  ['GET', `${api}/users?per_page=1`],
  ['GET', `${api}/users?per_page=1&page=2`],
  ['GET', `${api}/users?per_page=abc`],
  ['POST', `${api}/groups`, { body: 'name=Colony&path=colony', headers: form }],
  ['POST', `${api}/groups`, { body: '{"name":', headers: { 'content-type': 'application/json' } }],
  ['GET', `${api}/groups/colony`],
  ['GET', `${api}/groups/colony`, { as: null }],
  ['PUT', `${api}/groups/colony`, { json: { description: 'Birds that breed together' } }],
  ['POST', `${api}/projects`, { json: { name: 'eggs' } }],
  ['GET', eggs],
  ['GET', `${eggs}?statistics=true`],
  ['GET', `${api}/projects/99`],
  ['POST', `${eggs}/members`, { json: { user_id: 2, access_level: 30 } }],
  ['POST', `${eggs}/members`, { json: { user_id: 2, access_level: 33 } }],
  ['GET', `${eggs}/members`],
  ['GET', `${eggs}/members?unknown_parameter=1`],
  ['GET', `${api}/user?sudo=wren`],
  ['GET', `${api}/user?sudo=owl`],
  // Work, discussions and planning.
  ['POST', `${eggs}/labels`, { json: { name: 'warm', color: '#ff0000' } }],
  ['POST', `${eggs}/milestones`, { json: { title: 'Hatching' } }],
  ['POST', `${eggs}/issues`, { json: { title: 'First egg', labels: 'warm', assignee_ids: [2], milestone_id: 1 } }],
  ['POST', `${eggs}/issues`, { json: { description: 'without a title' } }],
  ['GET', `${eggs}/issues`],
  ['GET', `${eggs}/issues?labels=warm&order_by=updated_at&sort=asc`],
  ['GET', `${eggs}/issues/1`],
  ['HEAD', `${eggs}/issues/1`],
  ['GET', `${eggs}/issues/9`],
  ['PUT', `${eggs}/issues/1`, { json: { state_event: 'close' } }],
  ['POST', `${eggs}/issues/1/notes`, { json: { body: 'Look here, @wren!' } }],
  [
    'POST',
    `${eggs}/issues/1/notes`,
    { json: { body: 'in the ghost group' }, headers: { 'idempotency-key': 'a-key-of-both' } },
  ],
  [
    'POST',
    `${eggs}/issues/1/notes`,
    { json: { body: 'in the ghost group' }, headers: { 'idempotency-key': 'a-key-of-both' } },
  ],
  ['GET', `${eggs}/issues/1/notes?sort=asc`],
  ['GET', `${eggs}/issues/1/discussions`],
  ['POST', `${eggs}/issues/1/award_emoji`, { json: { name: 'egg' } }],
  ['POST', `${eggs}/issues/1/time_estimate`, { json: { duration: '3h' } }],
  ['GET', `${api}/todos?sudo=wren`, { until: (body) => body?.length === 2 }],
  ['GET', `${eggs}/events?target_type=note`, { until: (body) => body?.length === 2, hasIds: false }],
  ['POST', `${api}/groups/colony/epics`, { json: { title: 'Spring' } }],
  [
    'POST',
    `${api}/snippets`,
    { json: { title: 'Song', file_name: 'song.txt', content: 'tweet', visibility: 'private' } },
  ],
  ['DELETE', `${eggs}/labels/warm`],
  // Repositories.
  [
    'POST',
    `${eggs}/repository/commits`,
    {
      json: {
        branch: 'main',
        commit_message: 'lay',
        actions: [{ action: 'create', file_path: 'egg.txt', content: 'blue\n' }],
      },
    },
  ],
  ['GET', `${eggs}/repository/files/egg.txt?ref=main`],
  ['GET', `${eggs}/repository/files/egg.txt/raw?ref=main`],
  ['HEAD', `${eggs}/repository/files/egg.txt?ref=main`],
  ['GET', `${eggs}/repository/branches`],
  ['GET', '/root/eggs.git/info/refs?service=git-upload-pack', { as: null }],
  // Packages: streamed in both directions.
  ['PUT', `${eggs}/packages/generic/nest/1.0.0/twigs.bin`, { body: Buffer.alloc(300_000, 'twig') }],
  ['GET', `${eggs}/packages/generic/nest/1.0.0/twigs.bin`],
  ['GET', `${eggs}/packages/generic/nest/1.0.0/twigs.bin`, { headers: { range: 'bytes=4-11' } }],
  ['GET', `${eggs}/packages/generic/nest/1.0.0/none.bin`],
  ['GET', `${eggs}/packages`, { until: hasRows }],
  ['POST', `${eggs}/uploads`, { body: multipartUpload('song.txt', 'tweet'), headers: multipart }],
  ['GET', `${eggs}/packages/npm/nest`],
  // Administration.
  ['GET', `${api}/application/settings`],
  ['GET', `${api}/application/settings`, { as: null }],
  ['POST', `${api}/features/a_feature`, { json: { value: true } }],
  ['POST', `${api}/broadcast_messages`, { json: { message: 'Spring is near' } }],
  ['GET', `${api}/broadcast_messages`, { as: null }],
  ['POST', `${eggs}/feature_flags`, { json: { name: 'nest', version: 'new_version_flag' } }],
  ['GET', `${eggs}/feature_flags?per_page=1`],
  ['POST', `${api}/import/github`, { json: {} }],
  ['DELETE', `${api}/broadcast_messages/1`],
  ['DELETE', eggs],
];

/**
 * Sends one call over a connection that all calls share, as clients do.
 * @param {Call} call
 * @returns {Promise<Answer>}
 */
function sendCall([method, path, { as = ROOT_TOKEN, json, body, headers = {} } = {}]) {
  const content = json ? JSON.stringify(json) : body;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        port,
        host: '127.0.0.1',
        method,
        path,
        headers: {
          host: `localhost:${port}`,
          ...(as === null ? {} : { 'private-token': as }),
          ...(json ? { 'content-type': 'application/json' } : {}),
          ...(content === undefined ? {} : { 'content-length': Buffer.byteLength(content) }),
          ...headers,
        },
      },
      (response) => {
        /** @type {Buffer[]} */
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: response.rawHeaders, text: Buffer.concat(parts).toString() }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(content);
  });
}

/**
 * Replaces values that differ from one run to the next: times, durations, random ids, tokens, and digests of them.
 * @param {string} text
 */
function withoutVolatile(text) {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, '<time>')
    .replaceAll(/(glpat-|GR1348941)[\w-]+/g, '<token>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<uuid>')
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,128}\b/g, '<hex>');
}

/** Headers whose values are random, or derived from times. */
const VOLATILE = /^(x-request-id|x-runtime|etag|date|set-cookie|x-rookery-directory|content-security-policy)$/i;

/**
 * @param {Answer} answer
 * @param {boolean} hasIds
 */
function toComparable({ status, headers, text: whole }, hasIds = true) {
  const text = hasIds ? whole : whole.replaceAll(/"id":\d+/g, '"id":"<any>"');
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []));
  return {
    status,
    headers: pairs.map(
      ([name = '', value = '']) => `${name}: ${VOLATILE.test(name) ? '<any>' : withoutVolatile(value)}`,
    ),
    text: withoutVolatile(text).replaceAll(/name="form_token" value="[^"]+"/g, 'name="form_token" value="<any>"'),
  };
}

/**
 * The differences of two answers to one call, with the text around the first one.
 * @param {string} call
 * @param {ReturnType<typeof toComparable> | undefined} one
 * @param {ReturnType<typeof toComparable> | undefined} six
 */
function differences(call, one, six) {
  const [left, right] = [one, six].map((answer) => JSON.stringify(answer));
  if (left === right) return [];
  const at = [...(left ?? '')].findIndex((letter, index) => letter !== right?.[index]);
  return [{ call, one: left?.slice(Math.max(0, at - 60), at + 60), six: right?.slice(Math.max(0, at - 60), at + 60) }];
}

/** @param {string} layout */
async function answersInLayout(layout) {
  const env = { ...WITHOUT_RATES, ROOKERY_ROOT_TOKEN: ROOT_TOKEN, ROOKERY_LAYOUT: layout };
  const estate = await startEstate({ dataDir, port, env, resettable: true, commanded: true });
  try {
    const reset = spawn(process.execPath, [ROOKERY, 'reset'], { env: { ...process.env, ROOKERY_DATA: dataDir } });
    assert.equal(await new Promise((resolve) => reset.once('close', resolve)), 0);
    const answers = [];
    for (const call of CALLS) {
      const { until: accepts } = call[2] ?? {};
      const until = Date.now() + 60_000;
      let answer = await sendCall(call);
      while (accepts && !accepts(JSON.parse(answer.text)) && Date.now() < until) answer = await sendCall(call);
      answers.push(toComparable(answer, call[2]?.hasIds));
    }
    return { names: Object.keys(estate.processes), answers };
  } finally {
    await estate.stop();
  }
}

describe('both layouts', () => {
  after(() => {
    agent.destroy();
    discardPostgres(dataDir);
    rmSync(folder, { recursive: true, force: true });
  });

  it(`answer ${CALLS.length} calls with the same status, headers and bodies`, async () => {
    const one = await answersInLayout('one');
    const six = await answersInLayout('six');
    assert.deepEqual([one.names, six.names.length], [['one'], 6]);
    assert.deepEqual(
      CALLS.flatMap(([method, path], at) => differences(`${method} ${path}`, one.answers[at], six.answers[at])),
      [],
    );
    const statuses = [...new Set(six.answers.map(({ status }) => status))].sort();
    // The calls are worth comparing: each kind of answer occurs.
    assert.deepEqual(
      [200, 201, 202, 204, 206, 303, 400, 401, 404, 405, 409].filter((status) => !statuses.includes(status)),
      [],
    );
  });
});
