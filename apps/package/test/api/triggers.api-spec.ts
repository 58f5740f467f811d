import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { ContextSigningKeys } from '@rookery/platform';
import {
  registerProjectDeletionTests,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { DirectorySeed, SeededService, SeededUser, TestApp } from '@rookery/testing';
import { TriggerSecrets } from '../../src/ci/triggers/trigger-secrets';
import { startPackage } from '../support/app';

let service: SeededService;
let seed: DirectorySeed;
let app: TestApp;
let maintainer: SeededUser;
let other: SeededUser;
let project: DirectoryProject;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
  [maintainer, other] = [await seed.user(), await seed.user()];
  project = await createProject();
});
afterAll(() => service.close());

async function createProject(): Promise<DirectoryProject> {
  const made = await seed.project({ visibility: 'private' });
  for (const user of [maintainer, other]) await seed.member(user, made, 'maintainer');
  return made;
}

const me = (): Viewer => seed.viewer(maintainer);
const triggersPath = (of: DirectoryProject) => `/api/v4/projects/${of.id}/triggers`;

interface Trigger {
  readonly id: number;
  readonly token: string;
  readonly [name: string]: unknown;
}

async function createTrigger(params: Record<string, unknown> = {}, of = project): Promise<Trigger> {
  const { body } = await app
    .as(me())
    .post(triggersPath(of))
    .send({ description: 'Nightly', ...params })
    .expect(201);
  return body;
}

describe('POST …/triggers', () => {
  it('creates a token and shows it in full', async () => {
    const response = await app.as(me()).post(triggersPath(project)).send({ description: 'Nightly' });
    expect([response.status, response.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        token: expect.stringMatching(/^glptt-[0-9a-f]{40}$/),
        description: 'Nightly',
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
        last_used: null,
        expires_at: null,
        owner: expect.objectContaining({ id: maintainer.id, username: maintainer.username, public_email: null }),
      },
    ]);
  });

  it('accepts the URL-encoded path of the project and an expiry', async () => {
    const group = await seed.group({ path: 'tern' });
    const inGroup = await seed.project({ namespace_id: group.id, path: 'nest.js' });
    await seed.member(maintainer, group, 'owner');
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const { body } = await app
      .as(me())
      .post('/api/v4/projects/Tern%2Fnest.js/triggers')
      .send({ description: '', expires_at })
      .expect(201);
    expect(body).toMatchObject({ description: '', expires_at });
    await app
      .as(me())
      .get(`${triggersPath(inGroup)}/${body.id}`)
      .expect(200);
  });

  it.each([
    [{ description: undefined }, { error: 'description is missing' }],
    [{ description: { a: 1 } }, { error: 'description is invalid' }],
    [{ expires_at: 'abc' }, { error: 'expires_at is invalid' }],
    [{ expires_at: '01/01/2050' }, { error: 'expires_at is invalid' }],
    [{ expires_at: '2308' }, { error: 'expires_at is invalid' }],
    [
      { description: 'x'.repeat(256) },
      { message: '400 Bad request - {"description":["is too long (maximum is 255 characters)"]}' },
    ],
  ])('answers 400 to %j', async (params, body) => {
    const response = await app
      .as(me())
      .post(triggersPath(project))
      .send({ description: 'x', ...params });
    expect([response.status, response.body]).toEqual([400, body]);
  });

  it('refuses an expiry beyond the longest lifetime of tokens', async () => {
    const { status, body } = await app
      .as(me())
      .post(triggersPath(project))
      .send({ description: 'x', expires_at: new Date(Date.now() + 366 * 86_400_000).toISOString() });
    expect([status, body]).toEqual([
      400,
      {
        message: expect.stringMatching(/^400 Bad request - \{"expires_at":\["must be before \d{4}-\d\d-\d\d"\]\}$/),
      },
    ]);
  });

  it('refuses the 25,001st token of a project', async () => {
    const full = await createProject();
    await service.database.query(
      `insert into pipeline_triggers (project_id, owner_id, description, digest, sealed_token, token_start)
       select $1, $2, 'x', sha256(('t' || g)::bytea), '', 'abcd' from generate_series(1, 25000) g`,
      [full.id, maintainer.id],
    );
    const { status, body } = await app.as(me()).post(triggersPath(full)).send({ description: 'x' });
    const text = '400 Bad request - {"base":["Maximum number of pipeline triggers (25000) exceeded"]}';
    expect([status, body]).toEqual([400, { message: text }]);
  });

  it('stores neither the token nor a key to it', async () => {
    const { id, token } = await createTrigger();
    const [row] = await service.database.query<{ text: string }>(
      'select t::text as text from pipeline_triggers t where id = $1',
      [id],
    );
    expect(row!.text).not.toContain(token.slice('glptt-'.length));
    expect(row!.text).not.toContain(Buffer.from(token).toString('hex'));
  });

  registerParameterEncodingTests({
    app: () => app,
    to: () => ({ viewer: me(), method: 'POST', path: triggersPath(project), params: { description: 'Nightly' } }),
    seen: (trigger) => trigger['description'],
    expected: 'Nightly',
  });

  registerRefusalOrderTests(
    () => app,
    async () => {
      const developer = await seed.user();
      await seed.member(developer, project, 'developer');
      return {
        method: 'POST',
        path: triggersPath(project),
        good: { description: 'x' },
        bad: { expires_at: 'abc' },
        anonymous: seed.anonymous(),
        outsider: seed.viewer(await seed.user()),
        reader: seed.viewer(developer),
        allowed: me(),
      };
    },
  );
});

describe('GET …/triggers and GET …/triggers/:trigger_id', () => {
  it('show the whole token to its owner, and four characters to others', async () => {
    const shared = await createProject();
    const trigger = await createTrigger({}, shared);
    const masked = { ...trigger, token: trigger.token.slice(6, 10) };
    const admin = seed.viewer(await seed.user({ admin: true }));
    const cases: [Viewer, Trigger][] = [
      [me(), trigger],
      [seed.viewer(other), masked],
      [admin, masked],
    ];
    for (const [viewer, shown] of cases) {
      expect((await app.as(viewer).get(triggersPath(shared)).expect(200)).body).toEqual([shown]);
      expect(
        (
          await app
            .as(viewer)
            .get(`${triggersPath(shared)}/${trigger.id}`)
            .expect(200)
        ).body,
      ).toEqual(shown);
    }
  });

  it('show the beginning only when the key of the encryption was removed', async () => {
    const trigger = await createTrigger();
    const keys = app.get(ContextSigningKeys);
    const otherKey = Object.assign(Object.create(keys) as ContextSigningKeys, {
      deriveKeys: () => keys.deriveKeys('another purpose', 'package'),
    });
    const foreign = new TriggerSecrets(otherKey).createSecret();
    await service.database.query('update pipeline_triggers set sealed_token = $2, digest = $3 where id = $1', [
      ...[trigger.id, foreign.sealedToken, foreign.digest],
    ]);
    const { body } = await app
      .as(me())
      .get(`${triggersPath(project)}/${trigger.id}`)
      .expect(200);
    expect(body.token).toBe(trigger.token.slice(6, 10));
  });

  it('show no owner after the user was deleted', async () => {
    const gone = await seed.user();
    await seed.member(gone, project, 'maintainer');
    const { body: made } = await app
      .as(seed.viewer(gone))
      .post(triggersPath(project))
      .send({ description: 'x' })
      .expect(201);
    await seed.remove('users', gone.id);
    const { body } = await app
      .as(me())
      .get(`${triggersPath(project)}/${made.id}`)
      .expect(200);
    expect(body).toMatchObject({ owner: null });
  });

  it('answer 404 to an unknown token', async () => {
    const { body } = await app
      .as(me())
      .get(`${triggersPath(project)}/987654321`)
      .expect(404);
    expect(body).toEqual({ message: '404 Not found' });
  });

  describe('as a list', () => {
    let listed: DirectoryProject;
    beforeAll(async () => {
      listed = await createProject();
      for (let index = 0; index < 6; index += 1) await createTrigger({}, listed);
    });
    registerListPagingTests(() => ({ app, viewer: me(), path: triggersPath(listed), rows: 6 }));
  });

  registerVisibilityTests({
    app: () => app,
    from: async (level, standing) => {
      const at = await seed.project({ visibility: level });
      const viewer = await viewerWith(standing, at);
      return { viewer, path: triggersPath(at) };
    },
    seen: (standing) => (['maintainer', 'owner', 'admin'].includes(standing) ? 200 : 403),
    anonymous: 401,
  });
});

async function viewerWith(standing: string, at: DirectoryProject): Promise<Viewer> {
  if (standing === 'anonymous') return seed.anonymous();
  const user = await seed.user({ admin: standing === 'admin', external: standing === 'external' });
  if (!['admin', 'external', 'outsider'].includes(standing))
    await seed.member(user, at, standing as Parameters<typeof seed.member>[2]);
  return seed.viewer(user);
}

describe('PUT …/triggers/:trigger_id', () => {
  const put = (viewer: Viewer, id: number, params: object) =>
    app
      .as(viewer)
      .put(`${triggersPath(project)}/${id}`)
      .send(params);

  it('changes the description', async () => {
    const trigger = await createTrigger();
    const { body } = await put(me(), trigger.id, { description: 'Weekly' }).expect(200);
    expect(body).toEqual({ ...trigger, description: 'Weekly', updated_at: expect.any(String) });
    expect((await put(me(), trigger.id, {}).expect(200)).body).toEqual(body);
  });

  it('refuses maintainers who do not own the token, but not administrators', async () => {
    const { id } = await createTrigger();
    const { status, body } = await put(seed.viewer(other), id, { description: 'x' });
    const text = '403 Forbidden - The current user is not authorized to update the pipeline trigger token';
    expect([status, body]).toEqual([403, { message: text }]);
    await put(seed.viewer(await seed.user({ admin: true })), id, { description: 'x' }).expect(200);
  });

  it('refuses developers, who may own a token from former times', async () => {
    const former = await seed.user();
    const at = await createProject();
    await seed.member(former, at, 'developer');
    const { id } = await createTrigger({}, at);
    await service.database.query('update pipeline_triggers set owner_id = $2 where id = $1', [id, former.id]);
    const { status, body } = await app
      .as(seed.viewer(former))
      .put(`${triggersPath(at)}/${id}`)
      .send({ description: 'x' });
    expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  it('refuses an invalid description and an unknown token', async () => {
    const { id } = await createTrigger();
    expect((await put(me(), id, { description: 'x'.repeat(256) })).body).toEqual({
      message: '400 Bad request - {"description":["is too long (maximum is 255 characters)"]}',
    });
    expect((await put(me(), 987654321, { description: 'x' }).expect(404)).body).toEqual({ message: '404 Not found' });
  });
});

describe('DELETE …/triggers/:trigger_id', () => {
  it('deletes a token, also that of another maintainer', async () => {
    const { id } = await createTrigger();
    await app
      .as(seed.viewer(other))
      .delete(`${triggersPath(project)}/${id}`)
      .expect(204);
    const { body } = await app
      .as(me())
      .delete(`${triggersPath(project)}/${id}`)
      .expect(404);
    expect(body).toEqual({ message: '404 Not found' });
  });

  it('answers 412 when the token changed after If-Unmodified-Since', async () => {
    const { id } = await createTrigger();
    const remove = (since: string) =>
      app
        .as(me())
        .delete(`${triggersPath(project)}/${id}`)
        .set('If-Unmodified-Since', since);
    const { body } = await remove('Fri, 30 Jan 2015 10:00:00 GMT').expect(412);
    expect(body).toEqual({ message: '412 Precondition Failed' });
    await remove(new Date(Date.now() + 60_000).toUTCString()).expect(204);
  });

  it('refuses developers', async () => {
    const developer = await seed.user();
    await seed.member(developer, project, 'developer');
    const { id } = await createTrigger();
    await app
      .as(seed.viewer(developer))
      .delete(`${triggersPath(project)}/${id}`)
      .expect(403, { message: '403 Forbidden' });
  });
});

describe('a token of another project', () => {
  let trigger: Trigger;
  let foreign: DirectoryProject;
  beforeAll(async () => {
    foreign = await createProject();
    trigger = await createTrigger();
  });
  registerForeignParentTests({
    app: () => app,
    viewer: me,
    requests: () =>
      (['GET', 'PUT', 'DELETE'] as const).map((method) => ({
        method,
        path: `${triggersPath(foreign)}/${trigger.id}`,
        body: { description: 'x' },
      })),
    untouched: async () => (await app.as(me()).get(`${triggersPath(project)}/${trigger.id}`)).body,
  });
});

registerProjectDeletionTests({
  service: () => service,
  effect: 'drop-pipeline-triggers',
  tables: ['pipeline_triggers'],
  fill: (owner, at) => owner.post(triggersPath(at)).send({ description: 'x' }).expect(201),
});
