import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  GitClient,
  registerListPagingTests,
  registerParameterEncodingTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { refsRepository } from '../support/refs-repository';
import type { RefsRepository } from '../support/refs-repository';

let service: SeededService;
let git: GitClient;
let made: RefsRepository;
let cast: Cast;
let developer: Viewer;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  ({ made, cast } = await createReleasePlace('public'));
  developer = service.seed.viewer(cast.developer);
});
afterAll(async () => {
  await git.close();
  await service.close();
});

/** A project with the releases `v/1` and `v2`. */
async function createReleasePlace(visibility: 'private' | 'internal' | 'public') {
  const place = await refsRepository(service, git, { visibility });
  await place.place('HEAD:refs/heads/main', 'HEAD:refs/tags/v/1', 'HEAD:refs/tags/v2');
  const users = await castOf(service.seed, place.project);
  for (const tag of ['v/1', 'v2'])
    await service.app
      .as(service.seed.viewer(users.admin))
      .post(`/api/v4/projects/${place.project.id}/releases`)
      .send({ tag_name: tag })
      .expect(201);
  return { made: place, cast: users };
}

interface ReleaseLink {
  readonly id: number;
  readonly url: string;
}
const pathOf = ({ id }: Pick<DirectoryProject, 'id'>, rest: number | string = '', tag = 'v/1') =>
  `/api/v4/projects/${id}/releases/${encodeURIComponent(tag)}/assets/links${rest && `/${rest}`}`;
const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object, viewer = developer) =>
  requestOf(service.app.as(viewer), method, path).send(body);
const nextLink = (more: object = {}) => ({ name: `n${++at}`, url: `https://x.example/${at}`, ...more });
const add = async (more: object = {}): Promise<ReleaseLink> =>
  (await ask('POST', pathOf(made.project), nextLink(more)).expect(201)).body as ReleaseLink;

it('is added, changed and removed', async () => {
  const input = nextLink({ direct_asset_path: '/bin/a-1.x', link_type: 'image' });
  const added = await ask('POST', pathOf(made.project), input);
  const link = added.body as ReleaseLink;
  const { direct_asset_path: path, ...shown } = input as unknown as Record<string, string>;
  const direct = expect.stringMatching(
    new RegExp(`/api/v4/projects/${made.project.id}/releases/v%2F1/downloads${path}$`),
  );
  expect([added.status, link]).toEqual([201, { id: link.id, ...shown, direct_asset_url: direct, external: true }]);
  expect((await ask('GET', pathOf(made.project, link.id))).body).toEqual(link);
  const changed = await ask('PUT', pathOf(made.project, link.id), { name: 'New', filepath: '', link_type: 'runbook' });
  expect([changed.status, changed.body]).toEqual([
    200,
    { ...link, name: 'New', link_type: 'runbook', direct_asset_url: link.url },
  ]);
  const removed = await ask('DELETE', pathOf(made.project, link.id));
  expect([removed.status, removed.body]).toEqual([200, changed.body]);
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, body } = await ask(method, pathOf(made.project, link.id));
    expect([status, body]).toEqual([404, { message: '404 Not found' }]);
  }
});

it('has a permanent address that leads to it', async () => {
  const { url } = await add({ filepath: '/bin/tool' });
  const download = `/api/v4/projects/${made.project.id}/releases/v%2F1/downloads`;
  const { status, headers } = await ask('GET', `${download}/bin/tool`);
  expect([status, headers['location']]).toEqual([302, url]);
  const encoded = await ask('GET', `${download}/bin%2Ftool`);
  expect([encoded.status, encoded.headers['location']]).toEqual([302, url]);
  for (const path of ['bin', 'bin/tool/x'])
    expect((await ask('GET', `${download}/${path}`)).body).toEqual({ message: '404 Not found' });
});

it('is external unless it leads into the project', async () => {
  const added = await ask('POST', pathOf(made.project, '', 'v2'), nextLink());
  const { body } = await ask('GET', `/api/v4/projects/${made.project.id}/releases/v2`);
  const base = (body as { _links: { self: string } })._links.self.replace('/-/releases/v2', '');
  const inside = await ask('POST', pathOf(made.project, '', 'v2'), nextLink({ url: `${base}/-/jobs/1` }));
  const outside = await ask('POST', pathOf(made.project, '', 'v2'), nextLink({ url: `${base}x` }));
  expect([added, inside, outside].map((one) => (one.body as { external: boolean }).external)).toEqual([
    true,
    false,
    true,
  ]);
});

it.each([
  [{ url: 'javascript:alert(1)' }, ['Url is blocked: Only allowed schemes are http, https, ftp']],
  [{ url: 'https://x\r\ny' }, ['Url is blocked: Only allowed schemes are http, https, ftp']],
  [{ url: `https://x/${'y'.repeat(2048)}` }, ['Url is too long (maximum is 2048 bytes)']],
  [{ url: ' ' }, ["Url can't be blank"]],
  [{ name: '' }, ["Name can't be blank"]],
  [{ name: 'x'.repeat(256) }, ['Name is too long (maximum is 255 characters)']],
  [{ direct_asset_path: 'bin/x' }, ['Filepath is invalid']],
  [{ direct_asset_path: '/bin//x' }, ['Filepath is invalid']],
  [{ filepath: '/bin/x-' }, ['Filepath is invalid']],
  [{ filepath: `/${'x'.repeat(128)}` }, ['Filepath is too long (maximum is 128 characters)']],
])('is refused with %j', async (fields, message) => {
  const { id } = await add();
  const problems = [
    await ask('POST', pathOf(made.project), nextLink(fields)),
    await ask('PUT', pathOf(made.project, id), nextLink(fields)),
  ];
  for (const { status, body } of problems) expect([status, body]).toEqual([400, { message }]);
});

it.each(['name', 'url', 'filepath'])('has a %s of its own within the release', async (field) => {
  const link = nextLink({ filepath: `/own/${at}` }) as unknown as Record<string, string>;
  await ask('POST', pathOf(made.project), link).expect(201);
  const word = `${field[0]!.toUpperCase()}${field.slice(1)}`;
  const again = nextLink({ filepath: `/own/${at}-x`, [field]: link[field] });
  const { status, body } = await ask('POST', pathOf(made.project), again);
  expect([status, body]).toEqual([400, { message: [`${word} has already been taken`] }]);
  await ask('POST', pathOf(made.project, '', 'v2'), again).expect(201);
});

it('needs its parameters and a release', async () => {
  expect((await ask('POST', pathOf(made.project), {})).body).toEqual({ error: 'name is missing, url is missing' });
  const { id } = await add();
  expect((await ask('PUT', pathOf(made.project, id), { link_type: 'other' })).body).toEqual({
    error: 'name, url are missing, at least one parameter must be provided',
  });
  for (const path of [pathOf(made.project, '', 'none'), pathOf(made.project, id, 'none')]) {
    const { status, body } = await ask('GET', path);
    expect([status, body]).toEqual([404, { message: '404 Not Found' }]);
  }
});

it('obeys the rules for tags', async () => {
  const rules = `/api/v4/projects/${made.project.id}/protected_tags`;
  const maintainer = service.seed.viewer(cast.maintainer);
  const { id } = await add();
  await ask('POST', rules, { name: 'v/*', create_access_level: 40 }, maintainer).expect(201);
  for (const request of [
    ask('POST', pathOf(made.project), nextLink()),
    ask('PUT', pathOf(made.project, id), { name: 'x' }),
    ask('DELETE', pathOf(made.project, id)),
  ]) {
    const { status, body } = await request;
    expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  }
  await ask('DELETE', `${rules}/v%2F*`, {}, maintainer).expect(204);
});

describe('a link of another release', () => {
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => developer,
    async requests() {
      const { id } = await add();
      const path = pathOf(made.project, id, 'v2');
      return [
        { method: 'GET', path },
        { method: 'PUT', path, body: { name: 'x' } },
        { method: 'DELETE', path },
      ];
    },
  });
});

describe('lists', () => {
  beforeAll(async () => {
    for (let count = 0; count < 5; count += 1) await add();
  });
  let rows = 0;
  beforeEach(async () => {
    const { headers } = await ask('GET', pathOf(made.project));
    rows = Number(headers['x-total']);
  });
  registerListPagingTests(() => ({ app: service.app, viewer: developer, path: pathOf(made.project), query: {}, rows }));
});

describe('encodings', () => {
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: developer,
      method: 'POST',
      path: pathOf(made.project),
      params: nextLink({ link_type: 'image' }),
    }),
    seen: (body) => body['link_type'],
    expected: 'image',
  });
});

describe('access', () => {
  const viewerOf = (users: Cast, standing: string) =>
    standing === 'anonymous'
      ? service.seed.anonymous()
      : service.seed.viewer(users[standing === 'outsider' ? 'stranger' : (standing as keyof Cast)]);

  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const { made: place, cast: users } = await createReleasePlace(level);
      return { viewer: viewerOf(users, standing), path: pathOf(place.project) };
    },
  });

  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const { made: place, cast: users } = await createReleasePlace(level);
      return { viewer: viewerOf(users, standing), method: 'POST', path: pathOf(place.project), body: nextLink() };
    },
    anonymous: 401,
    seen: (standing) => (/developer|maintainer|owner|admin/.test(standing) ? 201 : 403),
  });
});
