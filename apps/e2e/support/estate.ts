import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import type { ParsedMail } from 'mailparser';

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests by "npm test" or "npm run test:e2e"`);
  return value;
}

/** The estate under test, as tools/test.mjs started it. */
export const estate = {
  baseUrl: required('TEST_BASE_URL'),
  rootToken: required('TEST_ROOT_TOKEN'),
  mailDir: required('TEST_MAIL_DIR'),
  controlUrl: required('TEST_CONTROL_URL'),
  /** Address of the second estate while it runs: `control('/second/start')`. */
  secondUrl: required('TEST_SECOND_URL'),
  /** Port of this machine from which the estate imports projects. */
  upstreamPort: Number(required('TEST_UPSTREAM_PORT')),
};

/** A test that needs a process for each service, because it ends one of them while it uses others. */
export const itInSixProcesses: jest.It = process.env['TEST_LAYOUT'] === 'one' ? it.skip : it;

/** A suffix that distinguishes the rows of one run of one file from all others in the estate. */
export const mark = `${Date.now().toString(36)}${process.pid.toString(36)}`;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- journeys read bodies as a client would
  readonly body: any;
}

/** A plain HTTP call, as curl would make it. */
export async function call(
  method: string,
  path: string,
  options: {
    token?: string | null;
    json?: unknown;
    body?: string;
    headers?: Record<string, string>;
    base?: string;
  } = {},
): Promise<Answer> {
  const token = options.token === undefined ? estate.rootToken : options.token;
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  const response = await fetch(`${options.base ?? estate.baseUrl}/api/v4${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { 'private-token': token }),
      ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}

/** Repeats a call until its answer is accepted. Errors: not within the bound; the message shows the last answer. */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  isAccepted: (answer: T) => boolean,
  withinMs = 60_000,
): Promise<T> {
  const until = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isAccepted(answer)) return answer;
    if (Date.now() > until) throw new Error(`not within ${withinMs} ms: ${JSON.stringify(answer).slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns all e-mails that the SMTP sink has received for this address. */
export async function mailTo(address: string): Promise<ParsedMail[]> {
  const files = readdirSync(estate.mailDir).filter((name) => name.endsWith('.eml'));
  const mails = await Promise.all(files.map((name) => simpleParser(readFileSync(join(estate.mailDir, name)))));
  return mails.filter((mail) => [mail.to ?? []].flat().some((to) => to.value.some((one) => one.address === address)));
}

/** Calls the control server of the estate: `control('/nats/stop')`. */
export async function control<T = unknown>(path: string): Promise<T> {
  const response = await fetch(`${estate.controlUrl}${path}`, { method: 'POST' });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

export interface Person {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly token: string;
}

/** Creates a user with a personal access token. */
export async function person(name: string, scopes: readonly string[] = ['api']): Promise<Person> {
  const username = `${name}-${mark}`;
  const email = `${username}@mail.example`;
  const json = { username, email, name: `${name} of the nest`, force_random_password: true };
  const user = await call('POST', '/users', { json });
  if (user.status !== 201) throw new Error(`${user.status} ${user.text}`);
  const token = await call('POST', `/users/${user.body.id}/personal_access_tokens`, { json: { name: 'e2e', scopes } });
  if (token.status !== 201) throw new Error(`${token.status} ${token.text}`);
  return { id: user.body.id, username, email, token: token.body.token };
}

/** Creates a private group and a project in it. */
export async function projectOf(owner: Person, name: string): Promise<{ id: number; group: number; path: string }> {
  const path = `${name}-${mark}`;
  const group = await call('POST', '/groups', { token: owner.token, json: { name: path, path } });
  const project = await call('POST', '/projects', {
    token: owner.token,
    json: { name: 'eggs', namespace_id: group.body.id },
  });
  if (project.status !== 201) throw new Error(`${project.status} ${project.text}`);
  return { id: project.body.id, group: group.body.id, path: `${path}/eggs` };
}

export function addMember(project: number, member: Person, level: number, by: Person): Promise<Answer> {
  const json = { user_id: member.id, access_level: level };
  return call('POST', `/projects/${project}/members`, { token: by.token, json });
}
