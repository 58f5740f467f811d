import { anonymousViewer, aViewer, paging, parameterEncodings, TEST_INTERNAL_SECRET } from '@rookery/testing';
import { confirmationKey, confirmationToken } from '../../src/emails/confirmation-token';
import type { Confirmable } from '../../src/emails/confirmation-token';
import { confirmationsOf, mailFacts, newestLink } from '../support/account-mails';
import { startIdentity } from '../support/identity-app';
import type { IdentityApp, Person } from '../support/identity-app';

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
const address = (): string => `second-${++serial}@mail.example`;
const add = (person: Person, email = address()) => person.client.post('/user/emails').body({ email }).json<Email>();
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('POST /user/emails', () => {
  it('adds an address that waits for its confirmation, and has a link sent', async () => {
    const { status, body } = await ada.client.post('/user/emails').body({ email: 'Ada.Two@mail.example' });
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
    const response = await ada.client.post('/user/emails').body(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('takes an address of nobody else, whatever its case, also when both ask at once', async () => {
    const email = address();
    const answers = await Promise.all(
      [ada, bob, ada, bob].map((one, index) =>
        one.client
          .post('/user/emails')
          .body({ email: index < 2 ? email : email.toUpperCase() })
          .send(),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
  });

  it('needs a token with the scope api', async () => {
    expect((await identity.nobody.post('/user/emails').body({})).body).toEqual({ message: '401 Unauthorized' });
    const reader = identity.as({ userId: ada.id, username: 'ada', scopes: ['read_user'] });
    expect((await reader.post('/user/emails').body({})).body).toMatchObject({ error: 'insufficient_scope' });
  });

  it('ends at 100 addresses', async () => {
    const rich = await identity.person('rich');
    await identity.db.query(
      `insert into emails (user_id, email) select $1, 'rich-' || n || '@mail.example' from generate_series(1, 98) n`,
      [rich.id],
    );
    const answers = await Promise.all(
      [1, 2, 3].map(() => rich.client.post('/user/emails').body({ email: address() }).send()),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(answers.find(({ status }) => status === 400)!.body).toEqual({
      message: { email: ['is one too many (maximum is 100 addresses)'] },
    });
  });

  it('has only so many e-mails sent in an hour', async () => {
    const eager = await identity.person('eager');
    await identity.db.query(`insert into email_confirmations (actor_id, since, count) values ($1, now(), 39)`, [
      eager.id,
    ]);
    await add(eager);
    const { status, body, headers } = await eager.client.post('/user/emails').body({ email: address() });
    expect([status, body]).toEqual([
      429,
      { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    ]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3000);
    expect((await eager.client.get('/user/emails')).body).toHaveLength(1);
    await identity.db.query(
      `update email_confirmations set since = now() - interval '61 minutes' where actor_id = $1`,
      [eager.id],
    );
    await add(eager);
  });

  parameterEncodings({
    app: () => identity.app,
    to: () => ({
      viewer: aViewer({ userId: bob.id, username: 'bob' }),
      method: 'POST',
      path: '/user/emails',
      params: { email: address() },
    }),
    seen: ({ email, confirmed_at }) => [String(email).replace(/\d+/, 'n'), confirmed_at],
    expected: ['second-n@mail.example', null],
  });
});

describe('reading and removing them', () => {
  it('lists what there is beside the primary address', async () => {
    const cora = await identity.person('cora');
    expect((await cora.client.get('/user/emails')).body).toEqual([]);
    const [first, second] = [await add(cora), await add(cora)];
    const reader = identity.as({ userId: cora.id, username: 'cora', scopes: ['read_user'] });
    expect((await reader.get('/user/emails')).body).toEqual([first, second]);
    expect((await reader.get(`/user/emails/${second.id}`)).body).toEqual(second);
  });

  it('knows neither the primary address nor those of others', async () => {
    const own = await add(bob);
    const [primary] = await identity.db.query<Email>(`select id from emails where user_id = $1 and is_primary`, [
      ada.id,
    ]);
    for (const id of [own.id, primary!.id, 99999999, 0]) {
      for (const method of ['get', 'delete'] as const) {
        const { status, body } = await ada.client[method](`/user/emails/${id}`);
        expect([status, body]).toEqual([404, { message: '404 Email Not Found' }]);
      }
    }
    expect((await ada.client.get('/user/emails/x')).body).toEqual({ error: 'email_id is invalid' });
    expect((await identity.nobody.get(`/user/emails/${own.id}`)).status).toBe(401);
    expect((await identity.nobody.delete(`/user/emails/${own.id}`)).status).toBe(401);
    expect((await identity.nobody.get('/user/emails')).status).toBe(401);
  });

  it('removes one, and with it where it was shown', async () => {
    const email = await add(ada);
    await identity.db.query(`update users set public_email = $2, commit_email = upper($2) where id = $1`, [
      ada.id,
      email.email,
    ]);
    const { status, text } = await ada.client.delete(`/user/emails/${email.id}`);
    expect([status, text]).toEqual([204, '']);
    expect((await ada.client.get('/user')).body).toMatchObject({ public_email: null, commit_email: 'ada@example.com' });
    expect((await ada.client.delete(`/user/emails/${email.id}`)).status).toBe(404);
  });

  it('honours If-Unmodified-Since', async () => {
    const email = await add(ada);
    const path = `/user/emails/${email.id}`;
    const early = await ada.client.delete(path).header('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect([early.status, early.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    const late = await ada.client.delete(path).header('if-unmodified-since', 'Thu, 01 Jan 2099 00:00:00 GMT');
    expect(late.status).toBe(204);
  });

  describe('the list', () => {
    let pat: Person;
    beforeAll(async () => {
      pat = await identity.person('pat');
      for (let count = 0; count < 5; count += 1) await add(pat);
    });
    paging(() => ({
      app: identity.app,
      viewer: aViewer({ userId: pat.id, username: 'pat' }),
      path: '/user/emails',
      rows: 5,
    }));
  });
});

describe('/users/:id/emails', () => {
  it('lets administrators add, with or without confirmation', async () => {
    const path = `/users/${bob.id}/emails`;
    const sure = await identity.root.post(path).body({ email: address(), skip_confirmation: true });
    expect([sure.status, sure.body]).toEqual([
      201,
      { id: expect.any(Number), email: expect.any(String), confirmed_at: INSTANT },
    ]);
    const before = await confirmationsOf(identity, bob.id);
    const waiting = await identity.root.post(path).body({ email: address() });
    expect([waiting.status, waiting.body.confirmed_at]).toEqual([201, null]);
    const after = await confirmationsOf(identity, bob.id);
    expect(after.slice(before.length).map((one) => one.email_id)).toEqual([waiting.body.id]);
    expect((await identity.root.get(path)).body).toEqual(expect.arrayContaining([sure.body, waiting.body]));
    expect((await identity.root.get(`${path}/${sure.body.id}`)).body).toEqual(sure.body);
    expect((await identity.root.delete(`${path}/${sure.body.id}`)).status).toBe(204);
    expect((await identity.root.get(`${path}/${sure.body.id}`)).body).toEqual({ message: '404 Email Not Found' });
  });

  it('refuses what is wrong or taken', async () => {
    const path = `/users/${bob.id}/emails`;
    expect((await identity.root.post(path).body({})).body).toEqual({ error: 'email is missing' });
    expect((await identity.root.post(path).body({ email: 'x@y', skip_confirmation: 'maybe' })).body).toEqual({
      error: 'skip_confirmation is invalid',
    });
    const taken = await identity.root.post(path).body({ email: 'ada@example.com' });
    expect([taken.status, taken.body]).toEqual([400, { message: { email: ['has already been taken'] } }]);
  });

  it('honours If-Unmodified-Since', async () => {
    const email = await add(bob);
    const { status } = await identity.root
      .delete(`/users/${bob.id}/emails/${email.id}`)
      .header('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect(status).toBe(412);
  });

  it.each([
    ['get', ''],
    ['post', ''],
    ['get', '/1'],
    ['delete', '/1'],
  ] as const)('%s %s is for administrators, and for users that exist', async (method, rest) => {
    const ask = (client: Person['client'], id: number) =>
      client[method](`/users/${id}/emails${rest}`).query({ email: 'x@y.z' });
    expect((await ask(identity.nobody, bob.id)).body).toEqual({ message: '401 Unauthorized' });
    expect((await ask(bob.client, bob.id)).body).toEqual({ message: '403 Forbidden' });
    expect((await ask(identity.root, 99999999)).body).toEqual({ message: '404 User Not Found' });
  });

  it('does not find an address through another user', async () => {
    const email = await add(bob);
    for (const method of ['get', 'delete'] as const) {
      const { status, body } = await identity.root[method](`/users/${ada.id}/emails/${email.id}`);
      expect([status, body]).toEqual([404, { message: '404 Email Not Found' }]);
    }
    expect((await bob.client.get(`/user/emails/${email.id}`)).body).toEqual(email);
  });

  describe('the list', () => {
    let quin: Person;
    beforeAll(async () => {
      quin = await identity.person('quin');
      for (let count = 0; count < 5; count += 1) await add(quin);
    });
    paging(() => ({
      app: identity.app,
      viewer: aViewer({ userId: 1, username: 'root', isAdmin: true }),
      path: `/users/${quin.id}/emails`,
      rows: 5,
    }));
  });

  parameterEncodings({
    app: () => identity.app,
    to: () => ({
      viewer: aViewer({ userId: 1, username: 'root', isAdmin: true }),
      method: 'POST',
      path: `/users/${bob.id}/emails`,
      params: { email: address(), skip_confirmation: true },
    }),
    seen: ({ confirmed_at }) => typeof confirmed_at,
    expected: 'string',
  });
});

describe('GET //users/confirmation', () => {
  const REFUSED = { message: '400 Bad request - Confirmation token is invalid' };
  const follow = (link: string) => identity.app.as(anonymousViewer()).get(link);

  it('confirms once, and leads to a page without the secret', async () => {
    const email = await add(ada);
    const link = await newestLink(identity, ada.id);
    const { status, headers, text } = await follow(link);
    expect([status, text]).toEqual([302, '']);
    expect(headers.get('location')).toBe('http://localhost:8080/users/confirmation/done');
    expect((await ada.client.get(`/user/emails/${email.id}`)).body.confirmed_at).toEqual(INSTANT);
    const again = await follow(link);
    expect([again.status, again.body]).toEqual([400, REFUSED]);
    const done = await follow('//users/confirmation/done');
    expect([done.status, done.headers.get('content-type'), done.text]).toEqual([
      200,
      'text/html; charset=utf-8',
      expect.stringContaining('<h1>Your e-mail address is confirmed</h1>'),
    ]);
  });

  it('confirms one of many followers', async () => {
    await add(ada);
    const link = await newestLink(identity, ada.id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => follow(link).send()));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, ...Array<number>(7).fill(400)]);
  });

  it('does not take what is forged, of another address, or gone', async () => {
    const [one, other] = [await add(ada), await add(ada)];
    const token = new URL(`http://x${await newestLink(identity, ada.id)}`).searchParams.get('confirmation_token')!;
    const mac = token.split('.')[1]!;
    const turned = `${mac.slice(0, -2)}${mac.at(-2) === 'A' ? 'B' : 'A'}${mac.at(-1)}`;
    for (const forged of ['x', `${one.id}.${mac}`, `${other.id}.${turned}`, `99999999.${mac}`, '\0', `${other.id}.`]) {
      const { status, body } = await follow('//users/confirmation').query({ confirmation_token: forged });
      expect([forged, status]).toEqual([forged, 400]);
      if (forged !== '\0') expect(body).toEqual(REFUSED);
    }
    expect((await follow('//users/confirmation')).body).toEqual({ error: 'confirmation_token is missing' });
    await ada.client.delete(`/user/emails/${other.id}`);
    expect((await follow('//users/confirmation').query({ confirmation_token: token })).body).toEqual(REFUSED);
  });

  it('does not take what is older than three days', async () => {
    const email = await add(ada);
    const before = `update emails set confirmation_requested_at = confirmation_requested_at - interval '3 days' where id = $1`;
    await identity.db.query(before, [email.id]);
    const question = { template: 'email_confirmation', recipient_id: ada.id, subject_id: email.id } as const;
    expect(await mailFacts(identity, question)).toEqual([null]);
    // The token of an e-mail that was sent while it worked.
    const [asked] = await identity.db.query<Confirmable>(
      `select id, email, confirmation_requested_at from emails where id = $1`,
      [email.id],
    );
    const token = confirmationToken(asked!, confirmationKey(TEST_INTERNAL_SECRET));
    const { status, body } = await follow('//users/confirmation').query({ confirmation_token: token });
    expect([status, body]).toEqual([400, { message: '400 Bad request - Confirmation token has expired' }]);
  });

  describe('in a browser', () => {
    const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const open = (link: string, method: 'GET' | 'HEAD' = 'GET') =>
      identity.app.as(anonymousViewer()).request(method, link).header('accept', BROWSER);
    const press = (token: string, accept = BROWSER) =>
      identity.app
        .as(anonymousViewer())
        .post('//users/confirmation')
        .header('accept', accept)
        .form({ confirmation_token: token });
    const isConfirmed = async (id: number) => (await ada.client.get(`/user/emails/${id}`)).body.confirmed_at !== null;

    it('asks first, so that a look at the link confirms nothing; the button confirms, once', async () => {
      const email = await add(ada, `o'b<i>&"x"-${++serial}@mail.example`);
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

    it('is not to be kept, framed, or told elsewhere', async () => {
      await add(ada);
      const { headers } = await open(await newestLink(identity, ada.id));
      const named = (name: string): string | null => headers.get(name);
      expect([named('content-type'), named('cache-control')]).toEqual(['text/html; charset=utf-8', 'no-store']);
      expect([named('referrer-policy'), named('x-frame-options')]).toEqual(['no-referrer', 'DENY']);
      const policy = named('content-security-policy')!;
      for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"])
        expect(policy).toContain(part);
    });
  });

  it('takes a signed-in caller of any scope as well', async () => {
    await add(ada);
    const reader = identity.as({ userId: bob.id, username: 'bob', scopes: ['read_registry'] });
    expect((await reader.get(await newestLink(identity, ada.id))).status).toBe(302);
  });
});

describe('what an e-mail says', () => {
  it('is asked with the internal secret, in its form', async () => {
    const url = `${identity.app.baseUrl}/internal/account-mails`;
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    for (const mails of [null, 'x', [null], [{ template: 'x', recipient_id: 1, subject_id: 1 }], Array(501).fill({})]) {
      await expect(mailFacts(identity, ...((mails ?? [null]) as never[]))).rejects.toThrow(/^400 /);
    }
  });

  it('is for the person whose address it is, while it waits and he is active', async () => {
    const eve = await identity.person('eve', { name: 'Eve' });
    const email = await add(eve);
    const ask = (recipient_id: number) =>
      mailFacts(identity, { template: 'email_confirmation', recipient_id, subject_id: email.id });
    const link = expect.stringMatching(
      new RegExp(`^http://localhost:8080/users/confirmation\\?confirmation_token=${email.id}\\.[\\w-]{43}$`),
    );
    expect(await ask(eve.id)).toEqual([{ address: email.email, name: 'Eve', link, token: null }]);
    expect(await ask(ada.id)).toEqual([null]);
    await identity.root.post(`/users/${eve.id}/block`);
    expect(await ask(eve.id)).toEqual([null]);
    await identity.root.post(`/users/${eve.id}/unblock`);
    await follow(await newestLink(identity, eve.id));
    expect(await ask(eve.id)).toEqual([null]);
  });

  const follow = (link: string) => identity.nobody.get(link);

  it('tells the holder of his token, and nobody else', async () => {
    const token = await identity.root
      .post(`/users/${ada.id}/personal_access_tokens`)
      .body({ name: 'deploy', scopes: ['api'] })
      .json<{ id: number; expires_at: string }>();
    const about = (template: 'token_expires' | 'token_rotated', recipient_id: number) =>
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
      { template: 'email_confirmation', recipient_id: ada.id, subject_id: 99999999 } as const,
    ];
    expect(await mailFacts(identity, ...all)).toEqual([facts, null, facts, null]);
    await ada.client.delete(`/personal_access_tokens/${token.id}`);
    expect(await mailFacts(identity, ...all)).toEqual([null, null, facts, null]);
  });

  it('says whose a token of a group, a project or a service account is', async () => {
    const path = 'mailed';
    const group = await ada.client.post('/groups').body({ name: path, path }).json<{ id: number }>();
    const inGroup = { name: 'eggs', namespace_id: group.id };
    const project = await ada.client.post('/projects').body(inGroup).json<{ id: number }>();
    const accounts = `/groups/${group.id}/service_accounts`;
    const account = await ada.client.post(accounts).body({ username: 'mail-robot' }).json<{ id: number }>();
    for (const [tokens, of] of [
      [`/groups/${group.id}/access_tokens`, { kind: 'group', path }],
      [`/projects/${project.id}/access_tokens`, { kind: 'project', path: `${path}/eggs` }],
      [`${accounts}/${account.id}/personal_access_tokens`, { kind: 'service account', path: 'mail-robot' }],
    ] as const) {
      const { id } = await ada.client
        .post(tokens)
        .body({ name: 'ci', scopes: ['api'] })
        .json<{ id: number }>();
      const question = { template: 'token_expires', recipient_id: ada.id, subject_id: id } as const;
      expect(await mailFacts(identity, question)).toEqual([
        expect.objectContaining({ token: expect.objectContaining({ name: 'ci', of }) }),
      ]);
    }
  });
});
