import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { registeredEndpoints, templatesOf } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { requestOf } from '@rookery/testing';
import type { Method } from '@rookery/testing';
import type { Agent, Response } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';

const MEMBERS = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const;
const ROLES = ['anonymous', 'outsider', ...MEMBERS, 'administrator'] as const;
const VISIBILITIES = ['public', 'internal', 'private'] as const;
type Role = (typeof ROLES)[number];
type Visibility = (typeof VISIBILITIES)[number];
type Line = { method: Method; path: string; body: string; letters: readonly string[]; statuses: readonly number[] };

const rows = readFileSync(join(__dirname, '../matrix/role-matrix.tsv'), 'utf8')
  .split('\n')
  .filter((row) => row !== '' && !row.startsWith('#'))
  .map((row) => row.split('\t'));
const classes = new Map(rows.filter((row) => row.length === 4).map(([name, ...letters]) => [name, letters]));
const lines: Line[] = rows
  .filter((row) => row.length === 5)
  .map(([method, path, body, name, statuses]) => ({
    method: method as Method,
    path: path!,
    body: body!,
    letters: classes.get(name) ?? [],
    statuses: statuses!.split(',').map(Number),
  }));

let identity: IdentityApp;
const clients = {} as Record<Role, Agent>;
const places = {} as Record<Visibility, Readonly<Record<string, string>>>;
let serial = 0;

beforeAll(async () => {
  identity = await startIdentity();
  const maker = await identity.person('maker');
  const people = new Map<Role, number>();
  clients.anonymous = identity.nobody;
  clients.administrator = identity.root;
  for (const role of ['outsider', ...MEMBERS] as const) {
    const { id, client } = await identity.person(`the-${role}`);
    clients[role] = client;
    people.set(role, id);
  }
  const make = async (kind: 'groups' | 'projects', name: string, over: object) =>
    (
      await maker.client
        .post(`/api/v4/${kind}`)
        .send({ name, path: name, ...over })
        .expect(201)
    ).body.id;
  const other = await make('groups', 'other', { visibility: 'public' });
  const person = (await identity.person('somebody')).id;
  for (const visibility of VISIBILITIES) {
    const group = await make('groups', `group-${visibility}`, { visibility });
    const home = await make('groups', `home-${visibility}`, { visibility });
    const project = await make('projects', `project-${visibility}`, { visibility, namespace_id: home });
    for (const role of MEMBERS) {
      const member = { user_id: people.get(role), access_level: ACCESS_LEVELS[role] };
      await maker.client.post(`/api/v4/groups/${group}/members`).send(member).expect(201);
      await maker.client.post(`/api/v4/projects/${project}/members`).send(member).expect(201);
    }
    const ids = { group, home, project, other, person };
    places[visibility] = { ...Object.fromEntries(Object.entries(ids).map(([k, id]) => [k, `${id}`])), visibility };
  }
});
afterAll(() => identity.close());

/** Paths of the table are below the API, or from the root on after `//`. */
const urlOf = (path: string) => (path.startsWith('//') ? path.slice(1) : `/api/v4${path}`);
const fill = (text: string, visibility: Visibility, n: number) =>
  text.replace(/\{(\w+)\}/g, (whole, key: string) => (key === 'n' ? `${n}` : (places[visibility][key] ?? whole)));

/** What an answer is in the letters of the table; `+` is judged against the status that the line names. */
function isAsExpected(letter: string, { path, body: sent, statuses }: Line, { status, body }: Response): boolean {
  const message: unknown = (body as { message?: unknown } | null)?.message;
  const parent = /\{(group|project)\}/.exec(path + sent)?.[1];
  const kind = path.startsWith('/namespaces') ? 'Namespace' : parent === 'group' ? 'Group' : 'Project';
  const isHidden = status === 404 && parent !== undefined && message === `404 ${kind} Not Found`;
  switch (letter) {
    case '+':
      return statuses.includes(status) && (status !== 404 || (!isHidden && message !== 'Not Found'));
    case 'h':
      return isHidden;
    case 'm':
      return status === 404 && /^(404 )?Not Found$/.test(String(message));
    case 'g':
      return status === 404 && !isHidden;
    default:
      return status === { '-': 401, x: 403, b: 400, n: 204 }[letter];
  }
}

it.each(lines.map((line): [string, Line] => [`${line.method} ${line.path} ${line.body}`, line]))(
  '%s',
  async (_, line) => {
    const deviations: string[] = [];
    for (const [i, visibility] of VISIBILITIES.entries()) {
      for (const [j, role] of ROLES.entries()) {
        const letter = line.letters[i]?.[j] ?? '?';
        const n = ++serial;
        const request = requestOf(clients[role], line.method, urlOf(fill(line.path, visibility, n)));
        const answer = await (line.body === '-' ? request : request.type('json').send(fill(line.body, visibility, n)));
        if (isAsExpected(letter, line, answer)) continue;
        const told = answer.text.slice(0, 120);
        deviations.push(`${visibility} ${role}: ${letter} expected, ${answer.status} ${told}`);
      }
    }
    expect(deviations).toEqual([]);
  },
);

describe('the table', () => {
  it('has a line for every endpoint', () => {
    const templates = registeredEndpoints().flatMap((endpoint) =>
      templatesOf(endpoint).map((template) => ({ method: endpoint.method, template })),
    );
    const covered = lines.map(({ method, path }) => {
      const plain = urlOf(path);
      const fitting = templates.filter((one) => one.method === method && patternOf(one.template).test(plain));
      return fitting.sort((a, b) => wildness(a.template) - wildness(b.template))[0];
    });
    expect(lines.filter((_, i) => covered[i] === undefined).map(({ path }) => path)).toEqual([]);
    expect(templates.filter((one) => !covered.includes(one))).toEqual([]);
  });

  it('has a letter for every role and visibility', () => {
    for (const { letters } of lines) expect(letters.map((word) => word.length)).toEqual([9, 9, 9]);
  });
});

const patternOf = (template: string) => new RegExp(`^${template.replace(/[:*]\w+/g, '[^/]+')}(\\?.*)?$`);
const wildness = (template: string) => template.split(/[:*]/).length;
