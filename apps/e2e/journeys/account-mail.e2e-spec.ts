import { call, estate, eventually, mailTo, mark, person } from '../support/estate';
import type { Answer, Person } from '../support/estate';

/**
 * Confirmation of e-mail addresses: from the call through outbox, bus, queue and mail server to the link, which works once.
 * Source: requirements 2 §3, §6; reference identity-and-import 5, 10.5; reference work-tracking 8.6.
 */
interface Mail {
  readonly subject?: string | undefined;
  readonly text?: string | undefined;
}
const LINK = /(https?:\/\/\S+\/users\/confirmation)\?confirmation_token=(\S+)/;

/** Returns the newest link sent to an address after that many e-mails have arrived. */
async function linkTo(address: string, count = 1): Promise<string> {
  const mails: readonly Mail[] = await eventually(
    () => mailTo(address),
    (found) => found.length >= count,
  );
  const links = mails.map((mail) => LINK.exec(mail.text ?? '')![2]!);
  expect(new Set(mails.map((mail) => mail.subject))).toEqual(new Set(['Confirm your e-mail address']));
  return `/users/confirmation?confirmation_token=${links.at(-1)!}`;
}

/** Fetches a path at the root of the gateway as a program does, without a token. */
const follow = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${estate.baseUrl}${path}`, { redirect: 'manual', ...init });
const browse = (path: string, init: RequestInit = {}): Promise<Response> =>
  follow(path, { ...init, headers: { accept: 'text/html,*/*;q=0.8' } });

async function groupOf(owner: Person): Promise<number> {
  const path = `flock-${owner.username}`;
  const made = await call('POST', '/groups', { token: owner.token, json: { name: path, path } });
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
  return made.body.id as number;
}

it('a service account with an address of its own can be used once its owner has followed the link', async () => {
  const owner = await person('keeper-of-bots');
  const accounts = `/groups/${await groupOf(owner)}/service_accounts`;
  const email = `robot-${mark}@mail.example`;
  const made = await call('POST', accounts, { token: owner.token, json: { email } });
  expect([made.status, made.body.email]).toEqual([201, email]);
  const json = { name: 'ci', scopes: ['api'] };
  const token = await call('POST', `${accounts}/${made.body.id}/personal_access_tokens`, { token: owner.token, json });
  const act = (): Promise<Answer> => call('GET', '/user', { token: token.body.token });
  const refused = await act();
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('is not confirmed')]);

  const link = await linkTo(email);
  const confirmed = await follow(link);
  expect(confirmed.status).toBe(302);
  const page = await fetch(confirmed.headers.get('location')!);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('is confirmed')]);
  const user = await act();
  expect([user.status, user.body.id, user.body.email]).toEqual([200, made.body.id, email]);
  const again = await follow(link);
  expect([again.status, await again.json()]).toEqual([
    400,
    { message: '400 Bad request - Confirmation token is invalid' },
  ]);
  expect((await mailTo(email)).length).toBe(1);
});

it('an added address is confirmed by its link, and a new link invalidates the former one', async () => {
  const owner = await person('two-addresses');
  const email = `second-${mark}@mail.example`;
  const added = await call('POST', '/user/emails', { token: owner.token, json: { email } });
  expect([added.status, added.body.confirmed_at]).toEqual([201, null]);
  const former = await linkTo(email);
  await call('DELETE', `/user/emails/${added.body.id}`, { token: owner.token });
  const readded = await call('POST', '/user/emails', { token: owner.token, json: { email } });
  expect(readded.status).toBe(201);
  const found = await eventually(
    () => mailTo(email),
    (mails) => mails.length === 2,
  );
  const links = found.map((mail) => `/users/confirmation?confirmation_token=${LINK.exec(mail.text ?? '')![2]!}`);
  expect((await follow(former)).status).toBe(400);
  const newest = links.find((link) => link !== former)!;
  expect((await follow(newest)).status).toBe(302);
  const shown = await call('GET', `/user/emails/${readded.body.id}`, { token: owner.token });
  expect(shown.body.confirmed_at).toEqual(expect.any(String));
});

it('opening the link in a browser confirms nothing, pressing the button does', async () => {
  const owner = await person('browser');
  const email = `browsed-${mark}@mail.example`;
  const added = await call('POST', '/user/emails', { token: owner.token, json: { email } });
  const link = await linkTo(email);
  const views = [await follow(link, { method: 'HEAD' }), await browse(link)];
  expect(views.map(({ status }) => status)).toEqual([200, 200]);
  const shown = () => call('GET', `/user/emails/${added.body.id}`, { token: owner.token });
  expect((await shown()).body.confirmed_at).toBeNull();
  const text = await views[1]!.text();
  const field = /name="(\w+)" value="([^"]+)"/.exec(text)!;
  expect(text).toContain('<form method="post" action="confirmation">');
  const body = new URLSearchParams({ [field[1]!]: field[2]! });
  const done = await browse('/users/confirmation', { method: 'POST', body });
  expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('is confirmed')]);
  expect((await shown()).body.confirmed_at).toEqual(expect.any(String));
  expect((await browse(link)).status).toBe(400);
});

it('the owner of a token gets an e-mail about its creation and its rotation', async () => {
  const holder = await person('rotator');
  const self = await call('GET', '/personal_access_tokens/self', { token: holder.token });
  const fresh = await call('POST', '/personal_access_tokens/self/rotate', { token: holder.token, json: {} });
  expect(fresh.status).toBe(200);
  const mails: readonly Mail[] = await eventually(
    () => mailTo(holder.email),
    (found) => found.length === 2,
  );
  const aboutToken = (subject: string) => mails.find((mail) => mail.subject === subject)?.text;
  expect(aboutToken('You have a new access token')).toContain(`"${self.body.name as string}"`);
  const rotated = aboutToken('An access token was rotated');
  expect(rotated).toContain(`"${self.body.name as string}"`);
  expect(rotated).toContain(fresh.body.expires_at as string);
  expect(rotated).not.toContain(fresh.body.token as string);
});
