/**
 * Many requests rotate one token at the same moment, through the gateway, while other users work. One succeeds, the others
 * are refused as documented, and no other user is affected, even while the first rotation hangs in the database.
 * Source: reference identity-and-import 4.8.
 *
 * @import { Answer, DrillClient, Person } from '../client.mjs'
 * @typedef {(client: DrillClient, owner: Person) => Promise<{ id: number, path: string, token: string }>} CreateToken
 */
import pg from 'pg';
import { until } from '../client.mjs';

const AT_ONCE = 50;
/** In the last of the rounds of each way, the rotation is delayed in the middle. */
const ROUNDS = 3;
/** Other users, with several tokens each: so many that a gateway must ask identity about most of their calls. */
const INNOCENTS = { people: 6, tokens: 20 };
/** Calls of the other users while a rotation hangs. */
const MEANWHILE = 60;
const BAD_REQUEST = '400 Bad request - Token already revoked';
const REVOKED = 'Token was revoked. You have to re-authorize from the user.';

const wanted = { name: 'spun', scopes: ['api'] };
/**
 * The ways to rotate a token. Each creates one and returns `{ id, path, token }`, with the credential of the caller as
 * `token`.
 * @type {Record<string, CreateToken>}
 */
const WAYS = {
  personal: async (client, { id, token }) => {
    const made = await client.made(`/users/${id}/personal_access_tokens`, wanted);
    return { id: made.id, path: `/personal_access_tokens/${made.id}/rotate`, token };
  },
  self: async (client, { id }) => {
    const made = await client.made(`/users/${id}/personal_access_tokens`, wanted);
    return { id: made.id, path: '/personal_access_tokens/self/rotate', token: made.token };
  },
  group: async (client, { token, group }) => {
    const made = await client.made(`/groups/${group}/access_tokens`, wanted, token);
    return { id: made.id, path: `/groups/${group}/access_tokens/${made.id}/rotate`, token };
  },
  'bot itself': async (client, { token, group }) => {
    const made = await client.made(`/groups/${group}/access_tokens`, wanted, token);
    return { id: made.id, path: `/groups/${group}/access_tokens/self/rotate`, token: made.token };
  },
  'service account': async (client, { token, group }) => {
    const account = await client.made(`/groups/${group}/service_accounts`, {}, token);
    const tokens = `/groups/${group}/service_accounts/${account.id}/personal_access_tokens`;
    const made = await client.made(tokens, wanted, token);
    return { id: made.id, path: `${tokens}/${made.id}/rotate`, token };
  },
};

/**
 * Runs the drill. Returns `statuses` of the rotations and the number of answers to other users (`innocent`). `wrong` is
 * the number of violations in both.
 * @param {DrillClient} client
 */
export async function run(client) {
  const drill = new TokenRotationDrill(client);
  await drill.open();
  try {
    for (let round = 1; round <= ROUNDS; round += 1)
      for (const [name, way] of Object.entries(WAYS)) await drill.round(name, way, round === ROUNDS);
  } finally {
    await drill.close();
  }
  return drill.facts;
}

class TokenRotationDrill {
  facts = {
    rounds: 0,
    /** @type {Record<string, number>} */
    statuses: {},
    innocent: 0,
    slowestInnocentMs: 0,
    wrong: 0,
    /** @type {string[]} */
    examples: [],
  };
  isOver = false;
  project = 0;
  /** @type {Person | undefined} */
  owner;
  /** Tokens of the other users. @type {string[][]} */
  innocents = [];

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
    const connectionString = client.estate.databases['identity'];
    this.holder = new pg.Client({ connectionString });
    this.observer = new pg.Client({ connectionString });
  }

  async open() {
    const { client } = this;
    await Promise.all([this.holder.connect(), this.observer.connect()]);
    this.owner = await client.person('owner');
    const path = `spun-${client.seed}`;
    this.owner.group = (await client.made('/groups', { name: path, path }, this.owner.token)).id;
    this.project = await client.projectWithIssue('work', 'internal');
    const people = await client.people(INNOCENTS.people, 'innocent');
    /** @param {Person} person */
    const several = ({ id }) => Promise.all(Array.from({ length: INNOCENTS.tokens }, () => client.tokenOf(id)));
    this.innocents = await Promise.all(people.map(several));
    // Opens all connections first, because opening them is not part of the drill.
    await Promise.all(this.innocents.flat().map((token) => client.api('GET', '/user', { token })));
  }

  async close() {
    await Promise.all([this.holder.end(), this.observer.end()]);
  }

  /**
   * @param {string} name
   * @param {CreateToken} way
   * @param {boolean} isHeld
   */
  async round(name, way, isHeld) {
    const { id, path, token } = await way(this.client, /** @type {Person} */ (this.owner));
    this.isOver = false;
    const work = this.innocents.map((tokens, index) => this.#readUntilOver(tokens, index));
    if (isHeld) await this.#lockToken(id);
    const rotations = Promise.all(
      Array.from({ length: AT_ONCE }, () => this.client.api('POST', path, { token })),
    ).finally(() => (this.isOver = true));
    if (isHeld) await this.#releaseAfterOthersWork();
    this.#verifyAnswers(name, await rotations);
    await Promise.all(work);
  }

  /**
   * Reads with one token after the other, until the round is over.
   * @param {string[]} tokens
   * @param {number} index
   */
  async #readUntilOver(tokens, index) {
    const reads = ['/user', `/projects/${this.project}`, `/projects/${this.project}/issues`];
    for (let count = index; !this.isOver; count += 1) {
      const from = performance.now();
      const path = reads[count % reads.length] ?? '';
      const { status } = await this.client.api('GET', path, { token: tokens[count % tokens.length] });
      this.facts.innocent += 1;
      this.facts.slowestInnocentMs = Math.max(this.facts.slowestInnocentMs, Math.round(performance.now() - from));
      if (status !== 200) this.#complain(`GET ${path} of another user: ${status}`);
    }
  }

  /** @param {number} tokenId */
  async #lockToken(tokenId) {
    await this.holder.query('begin');
    await this.holder.query('select id from access_tokens where id = $1 for update', [tokenId]);
  }

  async #releaseAfterOthersWork() {
    try {
      await until('rotations wait', async () => {
        const { rows } = await this.observer.query(
          `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows[0].count >= 2;
      });
      const before = this.facts.innocent;
      await until('others work', () => this.facts.innocent >= before + MEANWHILE);
    } finally {
      await this.holder.query('rollback');
    }
  }

  /**
   * @param {string} way
   * @param {Answer[]} answers
   */
  #verifyAnswers(way, answers) {
    this.facts.rounds += 1;
    for (const { status } of answers) this.facts.statuses[status] = (this.facts.statuses[status] ?? 0) + 1;
    const winners = answers.filter(({ status }) => status === 200).length;
    if (winners !== 1) this.#complain(`${way}: ${winners} succeeded`);
    for (const { status, body } of answers.filter((one) => one.status !== 200)) {
      const isDocumented =
        (status === 400 && body.message === BAD_REQUEST) || (status === 401 && body.error_description === REVOKED);
      if (!isDocumented) this.#complain(`${way}: ${status} ${JSON.stringify(body)}`);
    }
  }

  /** @param {string} text */
  #complain(text) {
    this.facts.wrong += 1;
    if (this.facts.examples.length < 5) this.facts.examples.push(text);
  }
}
