import { randomUUID } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { NotificationEmailAnswer } from '@rookery/contracts';
import {
  anonymousViewer,
  makeViewer,
  registerListPagingTests,
  registerParameterEncodingTests,
  requestOf,
} from '@rookery/testing';
import { ContextSigningKeys } from '@rookery/platform';
import {
  deriveEmailConfirmationKeys,
  computeEmailConfirmationToken,
} from '../../src/emails/confirming/confirmation-token';
import type { Confirmable } from '../../src/emails/confirming/confirmation-token';
import { confirmationsOf, mailFacts, newestLink } from '../support/account-mails';
import { UnconfirmedAddressesJob } from '../../src/users/addresses/unconfirmed-addresses.job';
import { internalCall } from '../support/internal-calls';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  identity = await startIdentity({ EMAIL_CONFIRMATIONS_PER_HOUR_COUNT: '40' });
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

interface Email {
  readonly id: number;
  readonly email: string;
  readonly confirmed_at: string | null;
}
let serial = 0;
const uniqueAddress = (): string => `second-${++serial}@mail.example`;
const addEmail = async (person: Person, email = uniqueAddress()) =>
  (await person.client.post('/api/v4/user/emails').send({ email }).expect(201)).body as Email;
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('POST /user/emails', () => {
  it('adds an unconfirmed address and requests a confirmation e-mail', async () => {
    const { status, body } = await ada.client.post('/api/v4/user/emails').send({ email: 'Ada.Two@mail.example' });
    expect([status, body]).toEqual([
      201,
      { id: expect.any(Number), email: 'Ada.Two@mail.example', confirmed_at: null },
    ]);
    expect((await confirmationsOf(identity, ada.id)).at(-1)).toEqual({
      email_id: body.id,
      user_id: ada.id,
      requested_at: INSTANT,
    });
    const [row] = await identity.db.query<{ payload: string }>(
      `select payload::text from outbox where subject = 'identity.email.confirmation_requested.v1' order by id desc limit 1`,
    );
    expect(row!.payload).not.toMatch(/@|confirmation_token/);
  });

  it.each([
    [{}, { error: 'email is missing' }],
    [{ email: '' }, { message: { email: ["can't be blank"] } }],
    [{ email: 'nobody' }, { message: { email: ['is invalid'] } }],
    [{ email: 'a b@c' }, { message: { email: ['is invalid'] } }],
    [{ email: ['a@b.example'] }, { error: 'email is invalid' }],
    [{ email: 'a\0@b.example' }, expect.anything()],
    [{ email: 'BOB@example.com' }, { message: { email: ['has already been taken'] } }],
  ])('refuses %j', async (body, expected) => {
    const response = await ada.client.post('/api/v4/user/emails').send(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('refuses an address of another user, ignoring case, also in concurrent requests', async () => {
    const email = uniqueAddress();
    const answers = await Promise.all(
      [ada, bob, ada, bob].map((one, index) =>
        one.client.post('/api/v4/user/emails').send({ email: index < 2 ? email : email.toUpperCase() }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
  });

  it('requires a token with the scope api', async () => {
    expect((await identity.anonymous.post('/api/v4/user/emails').send({})).body).toEqual({
      message: '401 Unauthorized',
    });
    const reader = identity.as({ userId: ada.id, username: 'ada', scopes: ['read_user'] });
    expect((await reader.post('/api/v4/user/emails').send({})).body).toMatchObject({ error: 'insufficient_scope' });
  });

  it('is limited to 100 addresses', async () => {
    const rich = await identity.person('rich');
    await identity.db.query(
      `insert into emails (user_id, email) select $1, 'rich-' || n || '@mail.example' from generate_series(1, 98) n`,
      [rich.id],
    );
    const answers = await Promise.all(
      [1, 2, 3].map(() => rich.client.post('/api/v4/user/emails').send({ email: uniqueAddress() })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(answers.find(({ status }) => status === 400)!.body).toEqual({
      message: { email: ['is one too many (maximum is 100 addresses)'] },
    });
  });

  it('limits e-mails per hour', async () => {
    const eager = await identity.person('eager');
    await identity.db.query(`insert into email_confirmations (actor_id, since, count) values ($1, now(), 39)`, [
      eager.id,
    ]);
    await addEmail(eager);
    const { status, body, headers } = await eager.client.post('/api/v4/user/emails').send({ email: uniqueAddress() });
    expect([status, body]).toEqual([
      429,
      {
        message: {
          error:
            'This endpoint has been requested too many times. Try again later. The limit email_confirmations is 40 an hour, set by EMAIL_CONFIRMATIONS_PER_HOUR_COUNT.',
        },
      },
    ]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(3000);
    expect((await eager.client.get('/api/v4/user/emails')).body).toHaveLength(1);
    await identity.db.query(
      `update email_confirmations set since = now() - interval '61 minutes' where actor_id = $1`,
      [eager.id],
    );
    await addEmail(eager);
  });

  it('limits answers that an address is taken by the same number', async () => {
    const curious = await identity.person('curious');
    const ask = (email: string) => curious.client.post('/api/v4/user/emails').send({ email });
    await identity.db.query(`insert into email_confirmations (actor_id, since, count) values ($1, now(), 38)`, [
      curious.id,
    ]);
    expect((await ask('bob@example.com')).status).toBe(400);
    expect((await ask('nobody at all')).status).toBe(400);
    expect((await ask('ada@example.com')).status).toBe(400);
    expect((await ask('bob@example.com')).status).toBe(429);
    expect((await ask(uniqueAddress())).status).toBe(429);
    const group = (await curious.client.post('/api/v4/groups').send({ name: 'curious', path: 'curious-group' })).body;
    const accounts = `/api/v4/groups/${group.id}/service_accounts`;
    const { id } = (await curious.client.post(accounts).send({}).expect(201)).body;
    expect((await curious.client.post(accounts).send({ email: 'bob@example.com' })).status).toBe(429);
    expect((await curious.client.patch(`${accounts}/${id}`).send({ email: 'bob@example.com' })).status).toBe(429);
    await identity.db.query(`update email_confirmations set count = 39 where actor_id = $1`, [curious.id]);
    const { status, body } = await curious.client.patch(`${accounts}/${id}`).send({ email: 'bob@example.com' });
    expect([status, body]).toEqual([400, { message: '400 Bad request - Email has already been taken' }]);
    // The write is rolled back when it is refused, but the disclosure still counts.
    await identity.db.query(`update email_confirmations set count = 38 where actor_id = $1`, [curious.id]);
    const named = async (sent: ReturnType<typeof ask>) => (await sent.set('Idempotency-Key', randomUUID())).status;
    const taken = { email: 'bob@example.com' };
    expect(await named(ask('bob@example.com'))).toBe(400);
    expect(await named(curious.client.patch(`${accounts}/${id}`).send(taken))).toBe(400);
    expect(await named(curious.client.post(accounts).send(taken))).toBe(429);
  });

  it('counts e-mails requested by bots for the user who created them', async () => {
    const owner = await identity.person('owner-of-bots');
    const { id: groupId } = (
      await owner.client.post('/api/v4/groups').send({ name: 'bots', path: 'bots-group' }).expect(201)
    ).body;
    const group = `/api/v4/groups/${groupId}`;
    const botOf = async (by: Person['client']): Promise<Person> => {
      const sent = { name: 'bot', scopes: ['api'], access_level: 50 };
      const { user_id: id } = (await by.post(`${group}/access_tokens`).send(sent).expect(201)).body;
      const client = identity.as({ userId: id, username: `bot${id}`, isBot: true });
      return { id, username: `bot${id}`, namespaceId: 0, client };
    };
    const first = await botOf(owner.client);
    const second = await botOf(first.client);
    await identity.db.query(`insert into email_confirmations (actor_id, since, count) values ($1, now(), 37)`, [
      owner.id,
    ]);
    await addEmail(first);
    await second.client.post(`${group}/service_accounts`).send({ email: uniqueAddress() }).expect(201);
    await addEmail(owner);
    for (const one of [first, second, owner])
      expect((await one.client.post('/api/v4/user/emails').send({ email: uniqueAddress() })).status).toBe(429);
    const { status } = await second.client.post(`${group}/service_accounts`).send({ email: uniqueAddress() });
    expect(status).toBe(429);
    const counted = await identity.db.query(`select 1 from email_confirmations where actor_id = any($1)`, [
      [first.id, second.id],
    ]);
    expect(counted).toEqual([]);
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: () => ({
      viewer: makeViewer({ userId: bob.id, username: 'bob' }),
      method: 'POST',
      path: '/api/v4/user/emails',
      params: { email: uniqueAddress() },
    }),
    seen: ({ email, confirmed_at }) => [String(email).replace(/\d+/, 'n'), confirmed_at],
    expected: ['second-n@mail.example', null],
  });
});

describe('reading and deleting', () => {
  it('lists the secondary addresses', async () => {
    const cora = await identity.person('cora');
    expect((await cora.client.get('/api/v4/user/emails')).body).toEqual([]);
    const [first, second] = [await addEmail(cora), await addEmail(cora)];
    const reader = identity.as({ userId: cora.id, username: 'cora', scopes: ['read_user'] });
    expect((await reader.get('/api/v4/user/emails')).body).toEqual([first, second]);
    expect((await reader.get(`/api/v4/user/emails/${second.id}`)).body).toEqual(second);
  });

  it('excludes the primary address and those of others', async () => {
    const own = await addEmail(bob);
    const [primary] = await identity.db.query<Email>(`select id from emails where user_id = $1 and is_primary`, [
      ada.id,
    ]);
    for (const id of [own.id, primary!.id, 99999999, 0]) {
      for (const method of ['get', 'delete'] as const) {
        const { status, body } = await ada.client[method](`/api/v4/user/emails/${id}`);
        expect([status, body]).toEqual([404, { message: '404 Email Not Found' }]);
      }
    }
    expect((await ada.client.get('/api/v4/user/emails/x')).body).toEqual({ error: 'email_id is invalid' });
    await identity.anonymous.get(`/api/v4/user/emails/${own.id}`).expect(401);
    await identity.anonymous.delete(`/api/v4/user/emails/${own.id}`).expect(401);
    await identity.anonymous.get('/api/v4/user/emails').expect(401);
  });

  it('deletes an address and its uses as public or commit e-mail', async () => {
    const email = await addEmail(ada);
    await identity.db.query(`update users set public_email = $2, commit_email = upper($2) where id = $1`, [
      ada.id,
      email.email,
    ]);
    const { status, text } = await ada.client.delete(`/api/v4/user/emails/${email.id}`);
    expect([status, text]).toEqual([204, '']);
    expect((await ada.client.get('/api/v4/user')).body).toMatchObject({
      public_email: null,
      commit_email: 'ada@example.com',
    });
    await ada.client.delete(`/api/v4/user/emails/${email.id}`).expect(404);
  });

  it('honours If-Unmodified-Since', async () => {
    const email = await addEmail(ada);
    const path = `/api/v4/user/emails/${email.id}`;
    const early = await ada.client.delete(path).set('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect([early.status, early.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    await ada.client.delete(path).set('if-unmodified-since', 'Thu, 01 Jan 2099 00:00:00 GMT').expect(204);
  });

  describe('the list', () => {
    let pat: Person;
    beforeAll(async () => {
      pat = await identity.person('pat');
      for (let count = 0; count < 5; count += 1) await addEmail(pat);
    });
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: makeViewer({ userId: pat.id, username: 'pat' }),
      path: '/api/v4/user/emails',
      rows: 5,
    }));
  });
});

describe('the address for notifications', () => {
  const choose = (person: Person, email: string | null) =>
    internalCall<NotificationEmailAnswer>(
      identity,
      INTERNAL_PATHS.notificationEmail,
      { user_id: person.id, email },
      'collaboration',
    );
  const inDirectory = async (person: Person): Promise<unknown> => {
    const [row] = await identity.db.query<{ email: string }>(
      `select state ->> 'notification_email' as email from directory_changes where kind = 'user' and entity_id = $1
       order by version desc limit 1`,
      [person.id],
    );
    return row!.email;
  };
  const confirmed = async (person: Person): Promise<Email> => {
    const path = `/api/v4/users/${person.id}/emails`;
    return (await identity.root.post(path).send({ email: uniqueAddress(), skip_confirmation: true }).expect(201)).body;
  };

  it('is the primary one or a confirmed one of the user, ignoring case', async () => {
    const eva = await identity.person('eva');
    expect(await choose(eva, null)).toEqual({ outcome: 'chosen', email: 'eva@example.com' });
    const [own, waiting] = [await confirmed(eva), await addEmail(eva)];
    for (const refused of [waiting.email, 'bob@example.com', 'nobody@mail.example', '', `${own.email} `])
      expect(await choose(eva, refused)).toEqual({ outcome: 'not_verified', email: 'eva@example.com' });
    expect(await choose(eva, own.email.toUpperCase())).toEqual({ outcome: 'chosen', email: own.email });
    expect(await choose(eva, null)).toEqual({ outcome: 'chosen', email: own.email });
    expect(await inDirectory(eva)).toBe(own.email);
    expect(await choose(eva, 'EVA@example.com')).toEqual({ outcome: 'chosen', email: 'eva@example.com' });
    expect(await inDirectory(eva)).toBe('eva@example.com');
  });

  it('is the primary one again when the chosen one is deleted', async () => {
    const fay = await identity.person('fay');
    const own = await confirmed(fay);
    await choose(fay, own.email);
    await fay.client.delete(`/api/v4/user/emails/${own.id}`).expect(204);
    expect([await choose(fay, null), await inDirectory(fay)]).toEqual([
      { outcome: 'chosen', email: 'fay@example.com' },
      'fay@example.com',
    ]);
  });

  it('follows the primary one unless another was chosen', async () => {
    const gil = await identity.person('gil');
    await choose(gil, 'gil@example.com');
    await identity.root.put(`/api/v4/users/${gil.id}`).send({ email: 'gil@new.example' }).expect(200);
    expect([await choose(gil, null), await inDirectory(gil)]).toEqual([
      { outcome: 'chosen', email: 'gil@new.example' },
      'gil@new.example',
    ]);
  });

  it.each([
    [{ user_id: 'x', email: null }, 400],
    [{ user_id: 1, email: 7 }, 400],
    [{ user_id: 1, email: 'a\0' }, 400],
    [{ user_id: 99999999, email: null }, 404],
  ])('refuses %j', async (asked, status) => {
    const call = internalCall(identity, INTERNAL_PATHS.notificationEmail, asked, 'collaboration');
    await expect(call).rejects.toThrow(new RegExp(`^${status} `));
  });
});

describe('/users/:id/emails', () => {
  it('lets administrators add addresses, with or without confirmation', async () => {
    const path = `/api/v4/users/${bob.id}/emails`;
    const sure = await identity.root.post(path).send({ email: uniqueAddress(), skip_confirmation: true });
    expect([sure.status, sure.body]).toEqual([
      201,
      { id: expect.any(Number), email: expect.any(String), confirmed_at: INSTANT },
    ]);
    const before = await confirmationsOf(identity, bob.id);
    const waiting = await identity.root.post(path).send({ email: uniqueAddress() });
    expect([waiting.status, waiting.body.confirmed_at]).toEqual([201, null]);
    const after = await confirmationsOf(identity, bob.id);
    expect(after.slice(before.length).map((one) => one.email_id)).toEqual([waiting.body.id]);
    expect((await identity.root.get(path)).body).toEqual(expect.arrayContaining([sure.body, waiting.body]));
    expect((await identity.root.get(`${path}/${sure.body.id}`)).body).toEqual(sure.body);
    await identity.root.delete(`${path}/${sure.body.id}`).expect(204);
    expect((await identity.root.get(`${path}/${sure.body.id}`)).body).toEqual({ message: '404 Email Not Found' });
  });

  it('refuses invalid and taken addresses', async () => {
    const path = `/api/v4/users/${bob.id}/emails`;
    expect((await identity.root.post(path).send({})).body).toEqual({ error: 'email is missing' });
    expect((await identity.root.post(path).send({ email: 'x@y', skip_confirmation: 'maybe' })).body).toEqual({
      error: 'skip_confirmation is invalid',
    });
    const taken = await identity.root.post(path).send({ email: 'ada@example.com' });
    expect([taken.status, taken.body]).toEqual([400, { message: { email: ['has already been taken'] } }]);
  });

  it('honours If-Unmodified-Since', async () => {
    const email = await addEmail(bob);
    const { status } = await identity.root
      .delete(`/api/v4/users/${bob.id}/emails/${email.id}`)
      .set('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect(status).toBe(412);
  });

  it.each([
    ['get', ''],
    ['post', ''],
    ['get', '/1'],
    ['delete', '/1'],
  ] as const)('%s %s is for administrators, and for existing users', async (method, rest) => {
    const ask = (client: Person['client'], id: number) =>
      client[method](`/api/v4/users/${id}/emails${rest}`).query({ email: 'x@y.z' });
    expect((await ask(identity.anonymous, bob.id)).body).toEqual({ message: '401 Unauthorized' });
    expect((await ask(bob.client, bob.id)).body).toEqual({ message: '403 Forbidden' });
    expect((await ask(identity.root, 99999999)).body).toEqual({ message: '404 User Not Found' });
  });

  it('does not find an address through another user', async () => {
    const email = await addEmail(bob);
    for (const method of ['get', 'delete'] as const) {
      const { status, body } = await identity.root[method](`/api/v4/users/${ada.id}/emails/${email.id}`);
      expect([status, body]).toEqual([404, { message: '404 Email Not Found' }]);
    }
    expect((await bob.client.get(`/api/v4/user/emails/${email.id}`)).body).toEqual(email);
  });

  describe('the list', () => {
    let quin: Person;
    beforeAll(async () => {
      quin = await identity.person('quin');
      for (let count = 0; count < 5; count += 1) await addEmail(quin);
    });
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
      path: `/api/v4/users/${quin.id}/emails`,
      rows: 5,
    }));
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: () => ({
      viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
      method: 'POST',
      path: `/api/v4/users/${bob.id}/emails`,
      params: { email: uniqueAddress(), skip_confirmation: true },
    }),
    seen: ({ confirmed_at }) => typeof confirmed_at,
    expected: 'string',
  });
});

describe('GET //users/confirmation', () => {
  const REFUSED = { message: '400 Bad request - Confirmation token is invalid' };
  const follow = (link: string) => identity.app.as(anonymousViewer()).get(link);

  it('confirms once, and redirects to a page without the secret', async () => {
    const email = await addEmail(ada);
    const link = await newestLink(identity, ada.id);
    const { status, headers, text } = await follow(link);
    expect([status, text]).toEqual([302, '']);
    expect(headers['location']).toBe('http://localhost:8080/users/confirmation/done');
    expect((await ada.client.get(`/api/v4/user/emails/${email.id}`)).body.confirmed_at).toEqual(INSTANT);
    const again = await follow(link);
    expect([again.status, again.body]).toEqual([400, REFUSED]);
    const done = await follow('/users/confirmation/done');
    expect([done.status, done.get('content-type'), done.text]).toEqual([
      200,
      'text/html; charset=utf-8',
      expect.stringContaining('<h1>Your e-mail address is confirmed</h1>'),
    ]);
  });

  it('confirms once for concurrent requests', async () => {
    await addEmail(ada);
    const link = await newestLink(identity, ada.id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => follow(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, ...Array<number>(7).fill(400)]);
  });

  it('refuses links that are forged, of another address, or of a deleted one', async () => {
    const [one, other] = [await addEmail(ada), await addEmail(ada)];
    const token = new URL(`http://x${await newestLink(identity, ada.id)}`).searchParams.get('confirmation_token')!;
    const mac = token.split('.')[1]!;
    const turned = `${mac.slice(0, -2)}${mac.at(-2) === 'A' ? 'B' : 'A'}${mac.at(-1)}`;
    for (const forged of ['x', `${one.id}.${mac}`, `${other.id}.${turned}`, `99999999.${mac}`, '\0', `${other.id}.`]) {
      const { status, body } = await follow('/users/confirmation').query({ confirmation_token: forged });
      expect([forged, status]).toEqual([forged, 400]);
      if (forged !== '\0') expect(body).toEqual(REFUSED);
    }
    expect((await follow('/users/confirmation')).body).toEqual({ error: 'confirmation_token is missing' });
    await ada.client.delete(`/api/v4/user/emails/${other.id}`);
    expect((await follow('/users/confirmation').query({ confirmation_token: token })).body).toEqual(REFUSED);
  });

  it('refuses links older than three days', async () => {
    const email = await addEmail(ada);
    const before = `update emails set confirmation_requested_at = confirmation_requested_at - interval '3 days' where id = $1`;
    await identity.db.query(before, [email.id]);
    const question = { template: 'email_confirmation', recipient_id: ada.id, subject_id: email.id } as const;
    expect(await mailFacts(identity, question)).toEqual([null]);
    // The token of an e-mail that was sent while the link was valid.
    const [asked] = await identity.db.query<Confirmable>(
      `select id, email, confirmation_requested_at from emails where id = $1`,
      [email.id],
    );
    const token = computeEmailConfirmationToken(
      asked!,
      deriveEmailConfirmationKeys(identity.app.get(ContextSigningKeys))[0],
    );
    const { status, body } = await follow('/users/confirmation').query({ confirmation_token: token });
    expect([status, body]).toEqual([400, { message: '400 Bad request - Confirmation token has expired' }]);
  });

  describe('in a browser', () => {
    const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const open = (link: string, method: 'GET' | 'HEAD' = 'GET') =>
      requestOf(identity.app.as(anonymousViewer()), method, link).set('accept', BROWSER);
    const press = (token: string, accept = BROWSER) =>
      identity.app
        .as(anonymousViewer())
        .post('/users/confirmation')
        .set('accept', accept)
        .type('form')
        .send({ confirmation_token: token });
    const isConfirmed = async (id: number) =>
      (await ada.client.get(`/api/v4/user/emails/${id}`)).body.confirmed_at !== null;

    it('shows a page first, so that opening the link confirms nothing; the button confirms, once', async () => {
      const email = await addEmail(ada, `o'b<i>&"x"-${++serial}@mail.example`);
      const link = await newestLink(identity, ada.id);
      const token = new URL(`http://x${link}`).searchParams.get('confirmation_token')!;
      for (const method of ['HEAD', 'GET', 'GET'] as const) {
        const page = await open(link, method);
        expect([page.status, await isConfirmed(email.id)]).toEqual([200, false]);
        if (method === 'HEAD') continue;
        expect(page.text).toContain(`<strong>o&#39;b&lt;i&gt;&amp;&quot;x&quot;-${serial}@mail.example</strong>`);
        expect(page.text).toContain(`name="confirmation_token" value="${token}"`);
        expect(page.text).not.toContain('<i>');
      }
      const done = await press(token);
      expect([done.status, done.text]).toEqual([
        200,
        expect.stringContaining('<title>Your e-mail address is confirmed</title>'),
      ]);
      expect(await isConfirmed(email.id)).toBe(true);
      const [again, later] = [await press(token), await open(link)];
      expect([again.status, later.status]).toEqual([400, 400]);
      expect(later.text).toContain('<h1>This link does not work</h1>');
      const program = await press(token, '*/*');
      expect([program.status, program.body]).toEqual([400, REFUSED]);
    });

    it('forbids caching, framing and referrers', async () => {
      await addEmail(ada);
      const { headers } = await open(await newestLink(identity, ada.id));
      const named = (name: string) => headers[name];
      expect([named('content-type'), named('cache-control')]).toEqual(['text/html; charset=utf-8', 'no-store']);
      expect([named('referrer-policy'), named('x-frame-options')]).toEqual(['no-referrer', 'DENY']);
      const policy = named('content-security-policy')!;
      for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"])
        expect(policy).toContain(part);
    });
  });

  it('accepts a signed-in caller with any scope', async () => {
    await addEmail(ada);
    const reader = identity.as({ userId: bob.id, username: 'bob', scopes: ['read_registry'] });
    await reader.get(await newestLink(identity, ada.id)).expect(302);
  });
});

describe('the facts of an e-mail', () => {
  it('are answered to collaboration alone, in the agreed format', async () => {
    await identity.app.bare().post(INTERNAL_PATHS.accountMails).send({}).expect(401);
    for (const mails of [null, 'x', [null], [{ template: 'x', recipient_id: 1, subject_id: 1 }], Array(501).fill({})]) {
      await expect(mailFacts(identity, ...((mails ?? [null]) as never[]))).rejects.toThrow(/^400 /);
    }
  });

  it('are for the user of the address, while it is unconfirmed and the user is active', async () => {
    const eve = await identity.person('eve', { name: 'Eve' });
    const email = await addEmail(eve);
    const ask = (recipient_id: number) =>
      mailFacts(identity, { template: 'email_confirmation', recipient_id, subject_id: email.id });
    const link = expect.stringMatching(
      new RegExp(`^http://localhost:8080/users/confirmation\\?confirmation_token=${email.id}\\.[\\w-]{43}$`),
    );
    expect(await ask(eve.id)).toEqual([{ address: email.email, name: 'Eve', link, token: null }]);
    expect(await ask(ada.id)).toEqual([null]);
    await identity.root.post(`/api/v4/users/${eve.id}/block`);
    expect(await ask(eve.id)).toEqual([null]);
    await identity.root.post(`/api/v4/users/${eve.id}/unblock`);
    await follow(await newestLink(identity, eve.id));
    expect(await ask(eve.id)).toEqual([null]);
  });

  const follow = (link: string) => identity.anonymous.get(link);

  it('about a further address go to the primary one, while it is there', async () => {
    const eve = await identity.person('collector', { name: 'Eve' });
    const add = { email: 'collector.two@mail.example' };
    const { body: email }: { body: { id: number } } = await eve.client
      .post('/api/v4/user/emails')
      .send(add)
      .expect(201);
    const announced = await identity.db.query<{ payload: object }>(
      `select payload from outbox where subject = 'identity.email.added.v1' and aggregate_id = $1`,
      [email.id],
    );
    expect(announced.map(({ payload }) => payload)).toEqual([
      { email_id: email.id, user_id: eve.id, added_at: INSTANT },
    ]);
    const ask = (recipient_id: number) =>
      mailFacts(identity, { template: 'email_added', recipient_id, subject_id: email.id });
    const { body: profile }: { body: { email: string } } = await eve.client.get('/api/v4/user');
    const facts = { address: profile.email, name: 'Eve', link: null, token: null, added: add.email };
    expect(await ask(eve.id)).toEqual([facts]);
    expect(await ask(ada.id)).toEqual([null]);
    await eve.client.delete(`/api/v4/user/emails/${email.id}`).expect(204);
    expect(await ask(eve.id)).toEqual([null]);
  });

  it('about an export are a link for an active user', async () => {
    const eve = await identity.person('exporter', { name: 'Eve' });
    const ask = () =>
      mailFacts(identity, { template: 'dependency_list_exported', recipient_id: eve.id, subject_id: 9 });
    const link = 'http://localhost:8080/api/v4/dependency_list_exports/9/download';
    expect(await ask()).toEqual([{ address: expect.stringContaining('@'), name: 'Eve', link, token: null }]);
    await identity.root.post(`/api/v4/users/${eve.id}/block`);
    expect(await ask()).toEqual([null]);
  });

  it('about gists that were left out are for active users', async () => {
    const eve = await identity.person('gister', { name: 'Eve' });
    const ask = () => mailFacts(identity, { template: 'gists_left_out', recipient_id: eve.id, subject_id: 9 });
    expect(await ask()).toEqual([{ address: expect.stringContaining('@'), name: 'Eve', link: null, token: null }]);
    await identity.root.post(`/api/v4/users/${eve.id}/block`);
    expect(await ask()).toEqual([null]);
  });

  it('about a token are for its holder only', async () => {
    const { body: token }: { body: { id: number; expires_at: string } } = await identity.root
      .post(`/api/v4/users/${ada.id}/personal_access_tokens`)
      .send({ name: 'deploy', scopes: ['api'] })
      .expect(201);
    const announced = await identity.db.query<{ payload: object }>(
      `select payload from outbox where subject = 'identity.access_token.created.v1' and aggregate_id = $1`,
      [token.id],
    );
    expect(announced.map(({ payload }) => payload)).toEqual([
      { token_id: token.id, user_id: ada.id, created_at: INSTANT, recipient_ids: [ada.id] },
    ]);
    const about = (template: 'token_created' | 'token_expires' | 'token_rotated', recipient_id: number) =>
      ({ template, recipient_id, subject_id: token.id }) as const;
    const facts = {
      address: 'ada@example.com',
      name: 'Name of ada',
      link: null,
      token: { name: 'deploy', expires_on: token.expires_at, of: null },
    };
    const all = [
      about('token_expires', ada.id),
      about('token_rotated', bob.id),
      about('token_rotated', ada.id),
      about('token_created', ada.id),
      { template: 'email_confirmation', recipient_id: ada.id, subject_id: 99999999 } as const,
    ];
    expect(await mailFacts(identity, ...all)).toEqual([facts, null, facts, facts, null]);
    await ada.client.delete(`/api/v4/personal_access_tokens/${token.id}`);
    expect(await mailFacts(identity, ...all)).toEqual([null, null, facts, facts, null]);
  });

  it('name the group, project or service account of a token', async () => {
    const path = 'mailed';
    const { body: group }: { body: { id: number } } = await ada.client
      .post('/api/v4/groups')
      .send({ name: path, path })
      .expect(201);
    const inGroup = { name: 'eggs', namespace_id: group.id };
    const { body: project }: { body: { id: number } } = await ada.client
      .post('/api/v4/projects')
      .send(inGroup)
      .expect(201);
    const accounts = `/api/v4/groups/${group.id}/service_accounts`;
    const { body: account }: { body: { id: number } } = await ada.client
      .post(accounts)
      .send({ username: 'mail-robot' })
      .expect(201);
    for (const [tokens, of] of [
      [`/api/v4/groups/${group.id}/access_tokens`, { kind: 'group', path }],
      [`/api/v4/projects/${project.id}/access_tokens`, { kind: 'project', path: `${path}/eggs` }],
      [`${accounts}/${account.id}/personal_access_tokens`, { kind: 'service account', path: 'mail-robot' }],
    ] as const) {
      const { id } = (
        await ada.client
          .post(tokens)
          .send({ name: 'ci', scopes: ['api'] })
          .expect(201)
      ).body as { id: number };
      const question = { template: 'token_expires', recipient_id: ada.id, subject_id: id } as const;
      expect(await mailFacts(identity, question)).toEqual([
        expect.objectContaining({ token: expect.objectContaining({ name: 'ci', of }) }),
      ]);
    }
  });
});

describe('an unconfirmed address', () => {
  const listed = async (person: Person) =>
    ((await person.client.get('/api/v4/user/emails?per_page=100').expect(200)).body as Email[]).map(
      ({ email }) => email,
    );
  const lapse = () => identity.app.get(UnconfirmedAddressesJob).run();
  const age = (email: string, hours: number) =>
    identity.db.query(
      `update emails set created_at = created_at - make_interval(hours => $2),
         confirmation_requested_at = confirmation_requested_at - make_interval(hours => $2) where email = $1`,
      [email, hours],
    );
  /** The address that bob added last. */
  const confirmNewest = async () => identity.anonymous.get(await newestLink(identity, bob.id)).expect(302);
  const serviceAccount = async (email: string) => {
    const path = `robots-${++serial}`;
    const { body: group } = await bob.client.post('/api/v4/groups').send({ name: path, path }).expect(201);
    const accounts = `/api/v4/groups/${group.id}/service_accounts`;
    return (await bob.client.post(accounts).send({ email }).expect(201)).body as { id: number };
  };
  const person = (email: string) => {
    const username = `person-${++serial}`;
    const body = { email, username, name: username, password: 'correct horse' };
    return identity.root.post('/api/v4/users').send(body);
  };
  const taken = { message: 'Email has already been taken' };

  it('is removed after three days, and no other is', async () => {
    const [old, fresh, known] = [await addEmail(bob), await addEmail(bob), await addEmail(bob)];
    await confirmNewest();
    const account = await serviceAccount(uniqueAddress());
    const { email: waiting } = (await identity.root.get(`/api/v4/users/${account.id}`)).body as { email: string };
    for (const email of [old.email, known.email, waiting]) await age(email, 73);
    await age(fresh.email, 71);
    await lapse();
    expect(await listed(bob)).toEqual(expect.arrayContaining([fresh.email, known.email]));
    expect(await listed(bob)).not.toContain(old.email);
    const { body } = await identity.root.get(`/api/v4/users/${account.id}`);
    expect(body.email).toMatch(/^service_account_[0-9a-f]{32}@noreply\.localhost$/);
    expect(body.confirmed_at).toBeNull();
    for (const email of [old.email, waiting]) await ada.client.post('/api/v4/user/emails').send({ email }).expect(201);
    expect((await ada.client.post('/api/v4/user/emails').send({ email: known.email })).status).toBe(400);
    // A generated address needs no confirmation and stays.
    await age(body.email, 73);
    await lapse();
    expect((await identity.root.get(`/api/v4/users/${account.id}`)).body.email).toBe(body.email);
  });

  it('is removed when an administrator gives it to a new user, or to another one', async () => {
    const [first, second, third] = [await addEmail(bob), await addEmail(bob), await addEmail(bob)];
    expect((await person(first.email.toUpperCase())).status).toBe(201);
    const changed = await identity.root.put(`/api/v4/users/${ada.id}`).send({ email: second.email });
    expect([changed.status, changed.body.email]).toEqual([200, second.email]);
    const vouched = { email: third.email, skip_confirmation: true };
    await identity.root.post(`/api/v4/users/${ada.id}/emails`).send(vouched).expect(201);
    for (const { email } of [first, second, third]) expect(await listed(bob)).not.toContain(email);
    const chosen = uniqueAddress();
    const account = await serviceAccount(chosen);
    expect((await person(chosen)).status).toBe(201);
    expect((await identity.root.get(`/api/v4/users/${account.id}`)).body.email).toMatch(/@noreply\.localhost$/);
  });

  it('stays when the change fails, and with any caller but administrators', async () => {
    const { email } = await addEmail(bob);
    expect((await person(email).send({ username: 'bob' })).status).toBe(409);
    expect((await ada.client.post('/api/v4/user/emails').send({ email })).status).toBe(400);
    expect((await identity.root.post(`/api/v4/users/${ada.id}/emails`).send({ email })).status).toBe(400);
    expect(await listed(bob)).toContain(email);
  });

  it('belongs to the user as soon as it is confirmed', async () => {
    const mine = await addEmail(bob);
    await confirmNewest();
    const { status, body } = await person(mine.email);
    expect([status, body]).toEqual([409, taken]);
    expect((await identity.root.put(`/api/v4/users/${ada.id}`).send({ email: mine.email })).body).toEqual(taken);
    expect(await listed(bob)).toContain(mine.email);
  });
});
