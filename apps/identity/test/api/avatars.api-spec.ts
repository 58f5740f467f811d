import { makeViewer } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { GIF, pictureOf, PNG } from '../support/pictures';

const SITE = 'http://localhost:8080';
type Kind = 'user' | 'group' | 'project' | 'topic';
const KINDS: readonly Kind[] = ['user', 'group', 'project', 'topic'];
const TABLES = { user: 'users', group: 'namespaces', project: 'projects', topic: 'topics' } as const;
const COLUMNS = { user: 'user_id', group: 'namespace_id', project: 'project_id', topic: 'topic_id' } as const;
const ROOMS = { user: 'user', group: 'group', project: 'project', topic: 'topics/topic' } as const;

let identity: IdentityApp;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

let serial = 0;
interface AvatarOwner {
  readonly id: number;
  readonly path: string;
}
/** A resource of this kind, and the route that changes it. */
async function createOwner(kind: Kind, over: Readonly<Record<string, unknown>> = {}): Promise<AvatarOwner> {
  const path = `target-${++serial}`;
  if (kind === 'user') return { id: (await identity.person(path)).id, path: `/api/v4/users/${await findUserId(path)}` };
  const client = kind === 'topic' ? identity.root : ada.client;
  const named = kind === 'topic' ? { name: path, title: path } : { name: path, path };
  const { id } = (
    await client
      .post(`/api/v4/${kind}s`)
      .send({ ...named, ...over })
      .expect(201)
  ).body as { id: number };
  return { id, path: `/api/v4/${kind}s/${id}` };
}
async function findUserId(username: string): Promise<number> {
  const [row] = await identity.db.query<{ id: number }>('select id from users where username = $1', [username]);
  return row!.id;
}
const putAvatar = (
  target: AvatarOwner,
  bytes: Buffer = PNG,
  filename = 'avatar.png',
  more: Record<string, string> = {},
) => identity.root.put(target.path).field(more).attach('avatar', bytes, filename);
/** Returns the path of a file, for a client, from its absolute URL. */
const avatarPathOf = (url: unknown): string => {
  expect(url).toEqual(expect.stringContaining(`${SITE}/uploads/-/system/`));
  return String(url).slice(SITE.length);
};
const fetchBytes = async (client: Agent, path: string): Promise<Buffer> => (await client.get(path)).body;
const countStoredAvatars = async (kind: Kind, id: number): Promise<number> =>
  (await identity.db.query(`select 1 from avatars where ${COLUMNS[kind]} = $1`, [id])).length;

it('a file in place of a text is refused', async () => {
  const { path } = await createOwner('project');
  const { status, body } = await identity.root
    .put(path)
    .attach('description', PNG, 'a.png')
    .attach('topics', PNG, 'b.png');
  expect([status, body]).toEqual([400, { error: 'description is invalid, topics is invalid' }]);
});

it("a group's avatar can also be sent by POST and to its own route, together with other fields", async () => {
  const { path } = await createOwner('group', { visibility: 'public' });
  const posted = await ada.client
    .post(path)
    .field({ description: 'seen', lfs_enabled: '0' })
    .attach('avatar', PNG, 'one.png');
  expect([posted.status, posted.body]).toEqual([
    200,
    expect.objectContaining({ description: 'seen', lfs_enabled: false, runners_token: expect.any(String) }),
  ]);
  expect(posted.body.avatar_url).toMatch(/one\.png$/);
  const put = await ada.client.put(`${path}/avatar`).attach('file', PNG, 'two.png');
  expect([put.status, put.body.avatar_url, put.body.description]).toEqual([
    200,
    expect.stringMatching(/two\.png$/),
    'seen',
  ]);
  for (const refused of ['post', 'put'] as const) {
    const at = refused === 'post' ? path : `${path}/avatar`;
    await identity.anonymous[refused](at).attach('file', PNG, 'three.png').expect(401);
    await bob.client[refused](at).attach('file', PNG, 'three.png').expect(403);
  }
});

describe.each(KINDS)('the avatar of a %s', (kind) => {
  it('is stored, shown, served unchanged to all callers, and removed', async () => {
    const target = await createOwner(kind, kind === 'topic' ? {} : { visibility: 'public' });
    const { status, body } = await putAvatar(target, PNG, 'My face.png', { file: '' });
    expect([status, body.avatar_url]).toEqual([
      200,
      `${SITE}/uploads/-/system/${ROOMS[kind]}/avatar/${target.id}/My_face.png`,
    ]);
    const path = avatarPathOf(body.avatar_url);
    const response = await identity.anonymous.get(path).expect(200);
    expect(response.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-disposition': `inline; filename="My_face.png"; filename*=UTF-8''My_face.png`,
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'max-age=0, public, must-revalidate',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    });
    expect(await fetchBytes(identity.anonymous, path)).toEqual(PNG);
    const head = await identity.anonymous.head(path);
    expect([head.status, head.text, head.get('content-length')]).toEqual([200, undefined, String(PNG.length)]);

    const removed = await identity.root.put(target.path).send({ avatar: '' });
    expect([removed.status, removed.body.avatar_url]).toEqual([200, null]);
    const gone = await identity.anonymous.get(path);
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Avatar Not Found' }]);
    expect(await countStoredAvatars(kind, target.id)).toBe(0);
  });

  it('is replaced, and the former file name answers 404', async () => {
    const target = await createOwner(kind, kind === 'topic' ? {} : { visibility: 'public' });
    const old = avatarPathOf((await putAvatar(target)).body.avatar_url);
    const known = (await identity.anonymous.get(old)).get('etag')!;
    await identity.anonymous.get(old).set('if-none-match', known).expect(304);
    await identity.anonymous.get(old).set('if-none-match', '*').expect(304);
    expect((await identity.anonymous.get(old).set('if-none-match', '"x", W/"y", z')).body).toEqual(PNG);
    // With the same name: a client that has the former one gets the new content.
    await putAvatar(target, pictureOf(100));
    const again = await identity.anonymous.get(old).set('if-none-match', known);
    expect([again.status, again.get('content-length')]).toEqual([200, '100']);
    const next = avatarPathOf((await putAvatar(target, GIF, 'other.gif')).body.avatar_url);
    expect((await identity.anonymous.get(next)).get('content-type')).toBe('image/gif');
    await identity.anonymous.get(old).expect(404);
    expect(await countStoredAvatars(kind, target.id)).toBe(1);
  });

  it('must be an image of at most 200 KiB', async () => {
    const target = await createOwner(kind);
    const before = await identity.db.query(`select avatar_url from ${TABLES[kind]} where id = $1`, [target.id]);
    const svg = await putAvatar(target, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'avatar.png');
    expect([svg.status, svg.body]).toEqual([
      400,
      {
        message: {
          avatar: [
            'file format is not supported. Please try one of the following supported formats: image/png, image/jpeg, image/gif, image/bmp, image/tiff, image/vnd.microsoft.icon',
          ],
        },
      },
    ]);
    const large = await putAvatar(target, pictureOf(201 * 1024));
    expect([large.status, large.body]).toEqual([
      400,
      { message: { avatar: ['is too big (should be at most 200 KiB)'] } },
    ]);
    const huge = await putAvatar(target, pictureOf(10 * 1024 * 1024));
    expect([huge.status, huge.body]).toEqual([413, { message: '413 Request Entity Too Large' }]);
    await putAvatar(target, pictureOf(200 * 1024)).expect(200);
    await identity.root.put(target.path).send({ avatar: null }).expect(200);
    expect(await identity.db.query(`select avatar_url from ${TABLES[kind]} where id = $1`, [target.id])).toEqual(
      before,
    );
  });

  it('may be sent as a part named `file`', async () => {
    const target = await createOwner(kind);
    const { status, body } = await identity.root.put(target.path).attach('file', GIF, 'part.gif');
    expect([status, body.avatar_url]).toEqual([200, expect.stringMatching(/\/part\.gif$/)]);
    expect((await identity.root.put(target.path).field({ file: '' })).body.avatar_url).toBe(body.avatar_url);
    expect(await countStoredAvatars(kind, target.id)).toBe(1);
  });

  it('is kept when other fields change', async () => {
    const target = await createOwner(kind);
    const url = (await putAvatar(target)).body.avatar_url as string;
    const change = kind === 'user' ? { bio: 'b' } : { description: 'd' };
    expect((await identity.root.put(target.path).send(change)).body.avatar_url).toBe(url);
    expect(await countStoredAvatars(kind, target.id)).toBe(1);
  });

  it('is refused as a text, a number, a list or a hash, in JSON, forms and query parameters', async () => {
    const target = await createOwner(kind);
    const url = (await putAvatar(target)).body.avatar_url as string;
    const put = () => identity.root.put(target.path);
    const texts = ['./x.jpg', url, 5, ['a'], { name: 'a' }];
    const answers = [
      ...texts.map((avatar) => put().send({ avatar })),
      put().send({ file: './x.jpg' }),
      put().type('form').send('avatar=x.jpg'),
      put().field({ avatar: 'x.jpg' }),
      put().query({ avatar: 'x.jpg' }),
    ];
    for (const { status, body } of await Promise.all(answers)) {
      expect([status, body]).toEqual([400, { error: 'avatar is invalid' }]);
    }
    expect(await countStoredAvatars(kind, target.id)).toBe(1);
  });

  it('is deleted with it', async () => {
    const target = await createOwner(kind);
    await putAvatar(target);
    expect(await countStoredAvatars(kind, target.id)).toBe(1);
    await identity.db.query(`delete from ${TABLES[kind]} where id = $1`, [target.id]);
    expect(await countStoredAvatars(kind, target.id)).toBe(0);
  });
});

describe.each(['group', 'project'] as const)('the avatar of a private %s', (kind) => {
  it('is available to callers who can see it', async () => {
    const target = await createOwner(kind, { visibility: 'private' });
    const path = avatarPathOf((await putAvatar(target)).body.avatar_url);
    const missing = { message: `404 ${kind === 'group' ? 'Group' : 'Project'} Not Found` };
    for (const address of [path, `${target.path}/avatar`]) {
      for (const client of [identity.anonymous, bob.client]) {
        const refused = await client.get(address);
        expect([refused.status, refused.body]).toEqual([404, missing]);
      }
      const seen = await ada.client.get(address);
      expect([seen.status, seen.get('cache-control')]).toEqual([200, 'max-age=0, private, must-revalidate']);
      const narrow = identity.app.as(makeViewer({ userId: ada.id, username: 'ada', scopes: ['read_registry'] }));
      expect((await narrow.get(address)).body).toMatchObject({ error: 'insufficient_scope' });
      const reading = identity.app.as(makeViewer({ userId: ada.id, username: 'ada', scopes: ['read_api'] }));
      await reading.get(address).expect(200);
    }
  });
});

describe.each(['group', 'project'] as const)('GET /%ss/:id/avatar', (kind) => {
  it('returns the file by id and by encoded path', async () => {
    const target = await createOwner(kind, { visibility: 'public' });
    const none = await identity.anonymous.get(`${target.path}/avatar`);
    expect([none.status, none.body]).toEqual([404, { message: '404 Avatar Not Found' }]);
    const { body } = await putAvatar(target);
    const ref = encodeURIComponent((body.full_path ?? body.path_with_namespace) as string);
    for (const path of [`${target.path}/avatar`, `/api/v4/${kind}s/${ref}/avatar`]) {
      expect(await fetchBytes(identity.anonymous, path)).toEqual(PNG);
      await identity.anonymous.head(path).expect(200);
    }
    await identity.anonymous.get(`/api/v4/${kind}s/987654321/avatar`).expect(404);
  });
});

it('answers 404 below another resource, another kind, and with another name', async () => {
  const target = await createOwner('project', { visibility: 'public' });
  const other = await createOwner('project', { visibility: 'public' });
  const path = avatarPathOf((await putAvatar(target)).body.avatar_url);
  for (const wrong of [
    path.replace(`/${target.id}/`, `/${other.id}/`),
    path.replace('/project/', '/user/'),
    path.replace('avatar.png', 'avatar.gif'),
    path.replace('avatar.png', 'avatar.png%2F..'),
    path.replace(`/${target.id}/`, `/987654321/`),
  ]) {
    expect([wrong, (await identity.anonymous.get(wrong)).status]).toEqual([wrong, 404]);
  }
  for (const id of ['x', '99999999999999999999', '%00']) {
    const odd = await identity.anonymous.get(`/uploads/-/system/user/avatar/${id}/avatar.png`);
    expect([id, odd.status]).toEqual([id, 400]);
  }
});

describe('PUT /user/avatar', () => {
  it("changes and removes the caller's own avatar, which the personal namespace shows too", async () => {
    const eve = await identity.person(`eve-${++serial}`);
    const url = `${SITE}/uploads/-/system/user/avatar/${eve.id}/avatar.png`;
    const { status, body } = await eve.client.put('/api/v4/user/avatar').attach('avatar', PNG, 'avatar.png');
    expect([status, body]).toEqual([200, { avatar_url: url }]);
    expect((await eve.client.get('/api/v4/user')).body.avatar_url).toBe(url);
    const own = async () =>
      (
        await identity.db.query(
          `select n.avatar_url as namespace, u.avatar_url as "user" from users u join namespaces n on n.owner_id = u.id
           where u.id = $1`,
          [eve.id],
        )
      )[0];
    expect(await own()).toEqual({ namespace: url.slice(SITE.length), user: url.slice(SITE.length) });
    const recorded = await identity.db.query(
      `select distinct on (kind) kind, state->>'avatar_url' as url from directory_changes
       where (kind = 'user' and entity_id = $1) or (kind = 'namespace' and entity_id = $2)
       order by kind, version desc`,
      [eve.id, eve.namespaceId],
    );
    expect(recorded).toEqual([
      { kind: 'namespace', url: url.slice(SITE.length) },
      { kind: 'user', url: url.slice(SITE.length) },
    ]);
    const removed = await eve.client.put('/api/v4/user/avatar').type('form').send({ avatar: '' });
    expect([removed.status, removed.body]).toEqual([200, { avatar_url: null }]);
    expect(await own()).toEqual({ namespace: null, user: null });
  });

  it('checks in order', async () => {
    expect((await identity.anonymous.put('/api/v4/user/avatar').send({})).body).toEqual({
      message: '401 Unauthorized',
    });
    const narrow = identity.app.as(makeViewer({ userId: bob.id, username: 'bob', scopes: ['read_user'] }));
    await narrow.put('/api/v4/user/avatar').send({}).expect(403);
    for (const [body, error] of [
      [{}, 'avatar is missing'],
      [{ avatar: 'text' }, 'avatar is invalid'],
    ] as const) {
      const refused = await bob.client.put('/api/v4/user/avatar').send(body);
      expect([refused.status, refused.body]).toEqual([400, { error }]);
    }
    const bad = await bob.client.put('/api/v4/user/avatar').attach('avatar', Buffer.from('text'), 'avatar.png');
    expect([bad.status, bad.body]).toEqual([400, { message: { avatar: [expect.stringContaining('not supported')] } }]);
  });

  it('keeps one of many concurrent uploads', async () => {
    const eve = await identity.person(`eve-${++serial}`);
    const names = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(
      names.map((name) => eve.client.put('/api/v4/user/avatar').attach('avatar', PNG, `${name}.png`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const url = (await eve.client.get('/api/v4/user')).body.avatar_url as string;
    await identity.anonymous.get(avatarPathOf(url)).expect(200);
    expect(await countStoredAvatars('user', eve.id)).toBe(1);
  });
});
