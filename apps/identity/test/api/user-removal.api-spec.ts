import { until } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { UserRemovalService } from '../../src/removal/people/user-removal.service';

let identity: IdentityApp;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());

const SOLE_OWNER = { message: 'User cannot be removed while is the sole-owner of a group' };
const LAST = { message: '403 Forbidden - The last administrator cannot be removed, demoted or refused entry' };

async function createGroup(owner: Person, path: string, parentId?: number): Promise<number> {
  const body = { name: path, path, visibility: 'public', ...(parentId === undefined ? {} : { parent_id: parentId }) };
  return (await owner.client.post('/api/v4/groups').send(body).expect(201)).body.id;
}
async function createProject(maker: Person, path: string, namespaceId?: number): Promise<number> {
  const body = { name: path, ...(namespaceId === undefined ? {} : { namespace_id: namespaceId }) };
  return (await maker.client.post('/api/v4/projects').send(body).expect(201)).body.id;
}
const deleteUser = (id: number, query: Record<string, unknown> = {}) =>
  identity.root.delete(`/api/v4/users/${id}`).query(query);
const listEvents = (subject: string): Promise<{ data: Record<string, unknown>; actor_id: number | null }[]> =>
  identity.db.query(
    `select payload as data, actor_id
     from outbox where subject = $1 order by id`,
    [subject],
  );
/** Kind, id and state of the newest entry in the change log for each row. */
async function readNewestState(kind: string, id: number): Promise<Record<string, unknown> | null | undefined> {
  const [row] = await identity.db.query<{ state: Record<string, unknown> | null }>(
    `select state from directory_changes where kind = $1 and entity_id = $2 order by version desc limit 1`,
    [kind, id],
  );
  return row?.state;
}
const countRows = async (table: string, where: string, id: number): Promise<number> =>
  (await identity.db.query<{ n: number }>(`select count(*)::int as n from ${table} where ${where} = $1`, [id]))[0]!.n;

describe('DELETE /users/:id', () => {
  it('removes a user with all personal data', async () => {
    const sam = await identity.person('sam');
    const own = await createProject(sam, 'own');
    const { body: token }: { body: { id: number } } = await identity.root
      .post(`/api/v4/users/${sam.id}/personal_access_tokens`)
      .send({ name: 't', scopes: ['api'] })
      .expect(201);
    const { status, text } = await deleteUser(sam.id);
    expect([status, text]).toEqual([204, '']);
    expect((await identity.root.get(`/api/v4/users/${sam.id}`)).body).toEqual({ message: '404 User Not Found' });
    await identity.root.get(`/api/v4/projects/${own}`).expect(404);
    for (const [table, where] of [
      ['namespaces', 'owner_id'],
      ['emails', 'user_id'],
      ['access_tokens', 'user_id'],
      ['members', 'user_id'],
      ['user_removals', 'user_id'],
    ])
      expect([table, await countRows(table!, where!, sam.id)]).toEqual([table, 0]);
    expect(await readNewestState('user', sam.id)).toBeNull();
    expect(await readNewestState('namespace', sam.namespaceId)).toBeNull();
    expect(await readNewestState('project', own)).toBeNull();
    expect(await readNewestState('token', token.id)).toBeNull();
    expect((await listEvents('identity.project.deleted.v1')).map((e) => e.data['project_id'])).toContain(own);
    const ghost = (await identity.root.get('/api/v4/users').query({ username: 'ghost' })).body[0];
    expect(ghost).toMatchObject({ name: 'Ghost User', state: 'active', bot: false });
    expect(await listEvents('identity.user.deleted.v1')).toEqual([
      { data: { user_id: sam.id, ghost_user_id: ghost.id, hard_delete: false }, actor_id: 1 },
    ]);
    // Effects wait until their copy of the directory contains the removal.
    const [said] = await identity.db.query(
      `select e.directory_epoch = h.epoch and e.directory_version = (
         select max(version) from directory_changes where kind = 'user' and entity_id = $1) as is_known
       from outbox e cross join directory_head h where e.subject = 'identity.user.deleted.v1'`,
      [sam.id],
    );
    expect(said).toEqual({ is_known: true });
  });

  it('frees the name and the address', async () => {
    const tom = await identity.person('tom');
    await deleteUser(tom.id);
    expect((await identity.person('tom')).id).not.toBe(tom.id);
  });

  it('keeps projects of groups, with the ghost as creator', async () => {
    const [olga, pat] = [await identity.person('olga'), await identity.person('pat')];
    const home = await createGroup(olga, 'home-of-olga');
    await olga.client.post(`/api/v4/groups/${home}/members`).send({ user_id: pat.id, access_level: 40 });
    const kept = await createProject(pat, 'kept', home);
    await deleteUser(pat.id);
    const [ghost] = await identity.db.query<{ id: number }>(`select id from users where kind = 'ghost'`);
    expect((await identity.root.get(`/api/v4/projects/${kept}`)).body.creator_id).toBe(ghost!.id);
    expect(await readNewestState('project', kept)).toMatchObject({ creator_id: ghost!.id });
    expect((await identity.root.get(`/api/v4/groups/${home}/members`)).body).toHaveLength(1);
  });

  it('refuses the sole owner of a group unless the group may be removed too', async () => {
    const [ann, ben] = [await identity.person('ann'), await identity.person('ben')];
    const top = await createGroup(ann, 'top-of-ann');
    const below = await createGroup(ann, 'below', top);
    const inside = await createProject(ann, 'inside', below);
    const shared = await createGroup(ann, 'shared-by-ann');
    await ann.client.post(`/api/v4/groups/${shared}/members`).send({ user_id: ben.id, access_level: 50 });
    const refused = await deleteUser(ann.id);
    expect([refused.status, refused.body]).toEqual([409, SOLE_OWNER]);
    expect((await identity.root.get(`/api/v4/users/${ann.id}`)).body.state).toBe('active');

    await deleteUser(ann.id, { hard_delete: 'True' }).expect(204);
    for (const path of [
      `/api/v4/groups/${top}`,
      `/api/v4/groups/${below}`,
      `/api/v4/projects/${inside}`,
      `/api/v4/users/${ann.id}`,
    ])
      expect([path, (await identity.root.get(path)).status]).toEqual([path, 404]);
    await identity.root.get(`/api/v4/groups/${shared}`).expect(200);
    expect((await listEvents('identity.user.deleted.v1')).at(-1)!.data).toEqual({
      user_id: ann.id,
      ghost_user_id: null,
      hard_delete: true,
    });
  });

  it('counts only active users as other owners, and owners of groups above', async () => {
    const [cleo, dora] = [await identity.person('cleo'), await identity.person('dora')];
    const top = await createGroup(cleo, 'top-of-cleo');
    await cleo.client.post(`/api/v4/groups/${top}/members`).send({ user_id: dora.id, access_level: 50 });
    const below = await createGroup(dora, 'of-dora', top);
    await identity.root.post(`/api/v4/users/${cleo.id}/block`);
    expect((await deleteUser(dora.id)).body).toEqual(SOLE_OWNER);
    await identity.db.query(`update users set state = 'active' where id = $1`, [cleo.id]);
    await deleteUser(dora.id).expect(204);
    await identity.root.get(`/api/v4/groups/${below}`).expect(200);
  });

  it('refuses the ghost, the last administrator, and missing users', async () => {
    const [ghost] = await identity.db.query<{ id: number }>(`select id from users where kind = 'ghost'`);
    expect((await deleteUser(ghost!.id)).body).toEqual({
      message: '403 Forbidden - An internal user cannot be removed by the API',
    });
    expect((await deleteUser(1)).body).toEqual(LAST);
    expect((await deleteUser(987654321)).body).toEqual({ message: '404 User Not Found' });
    expect((await deleteUser(1, { hard_delete: 'maybe' })).body).toEqual({ error: 'hard_delete is invalid' });
    expect((await identity.root.delete('/api/v4/users/x')).body).toEqual({ error: 'id is invalid' });
  });

  it('is for administrators', async () => {
    const eva = await identity.person('eva');
    expect((await eva.client.delete(`/api/v4/users/${eva.id}`)).body).toEqual({ message: '403 Forbidden' });
    expect((await identity.anonymous.delete(`/api/v4/users/${eva.id}`)).body).toEqual({ message: '401 Unauthorized' });
  });

  it('honours If-Unmodified-Since', async () => {
    const fay = await identity.person('fay');
    const late = await identity.root
      .delete(`/api/v4/users/${fay.id}`)
      .set('if-unmodified-since', 'Mon, 01 Jan 2024 00:00:00 GMT');
    expect([late.status, late.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    const soon = new Date(Date.now() + 60_000).toUTCString();
    await identity.root.delete(`/api/v4/users/${fay.id}`).set('if-unmodified-since', soon).expect(204);
  });

  it.each([
    ['body', 'json'],
    ['form', 'form'],
  ])('accepts hard_delete as %s', async (how, type) => {
    const gil = await identity.person(`gil-${how}`);
    await createGroup(gil, `of-gil-${how}`);
    await identity.root.delete(`/api/v4/users/${gil.id}`).type(type).send({ hard_delete: true }).expect(204);
  });
});

describe('a long removal', () => {
  it('continues after the request, in this process or another one', async () => {
    const [ida, jo] = [await identity.person('ida'), await identity.person('jo')];
    await identity.db.query(
      `insert into projects (namespace_id, creator_id, name, path, visibility)
       select $1, $2, 'p' || n, 'p' || n, 'private' from generate_series(1, 250) n`,
      [ida.namespaceId, ida.id],
    );
    await deleteUser(ida.id).expect(204);
    await identity.app.get(UserRemovalService).continueRemovals();
    await until(async () => (await identity.root.get(`/api/v4/users/${ida.id}`)).status === 404);
    expect(await countRows('projects', 'namespace_id', ida.namespaceId)).toBe(0);

    // As if the process had ended right after the request.
    await identity.db.query(`insert into user_removals (user_id, hard_delete) values ($1, false)`, [jo.id]);
    await deleteUser(jo.id).expect(204);
    await identity.app.get(UserRemovalService).continueRemovals();
    await until(async () => (await identity.root.get(`/api/v4/users/${jo.id}`)).status === 404);
  });

  it("makes the user's tokens invalid at once", async () => {
    const kim = await identity.person('kim');
    const { body: token }: { body: { id: number } } = await identity.root
      .post(`/api/v4/users/${kim.id}/personal_access_tokens`)
      .send({ name: 't', scopes: ['api'] })
      .expect(201);
    await identity.db.query(
      `insert into projects (namespace_id, creator_id, name, path, visibility)
       select $1, $2, 'p' || n, 'p' || n, 'private' from generate_series(1, 100) n`,
      [kim.namespaceId, kim.id],
    );
    await deleteUser(kim.id);
    const rows = await identity.db.query(
      `select t.entity_id as token_id from directory_changes u
       join directory_changes t on t.version = u.version and t.kind = 'token'
       where u.kind = 'user' and u.entity_id = $1 and u.state->>'state' = 'blocked'`,
      [kim.id],
    );
    expect(rows).toEqual([{ token_id: token.id }]);
    await identity.app.get(UserRemovalService).continueRemovals();
    await until(async () => (await identity.root.get(`/api/v4/users/${kim.id}`)).status === 404);
  });
});

describe('concurrent removals', () => {
  it('one of the last two owners stays', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [lea, max] = [await identity.person(`lea${round}`), await identity.person(`max${round}`)];
      const home = await createGroup(lea, `home${round}`);
      await lea.client.post(`/api/v4/groups/${home}/members`).send({ user_id: max.id, access_level: 50 });
      const answers = await Promise.all([deleteUser(lea.id), deleteUser(max.id)]);
      expect(answers.map((one) => one.status).sort()).toEqual([204, 409]);
    }
  });

  it('removing an owner while demoting the other leaves one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [nia, oto] = [await identity.person(`nia${round}`), await identity.person(`oto${round}`)];
      const home = await createGroup(nia, `place${round}`);
      await nia.client.post(`/api/v4/groups/${home}/members`).send({ user_id: oto.id, access_level: 50 });
      const [gone, left] = await Promise.all([
        deleteUser(nia.id),
        identity.root.delete(`/api/v4/groups/${home}/members/${oto.id}`),
      ]);
      expect([
        [204, 403],
        [409, 204],
      ]).toContainEqual([gone.status, left.status]);
    }
  });

  it('one of the last two administrators stays', async () => {
    const quin = await identity.person('quin', { admin: true });
    const answers = await Promise.all([deleteUser(quin.id), quin.client.delete('/api/v4/users/1')]);
    expect(answers.map((one) => one.status).sort()).toEqual([204, 403]);
    // Restores the state for the following tests.
    const [root] = await identity.db.query(`select id from users where id = 1`);
    expect(root === undefined).toBe(answers[0]!.status === 403);
  });

  it('there is one ghost, also if several requests create it', async () => {
    const other = await startIdentity();
    try {
      const people = await Promise.all([0, 1, 2, 3].map((n) => other.person(`user${n}`)));
      await other.person('ghost');
      const answers = await Promise.all(people.map((one) => other.root.delete(`/api/v4/users/${one.id}`)));
      expect(answers.map((one) => one.status)).toEqual([204, 204, 204, 204]);
      const ghosts = await other.db.query<{ username: string }>(`select username from users where kind = 'ghost'`);
      expect(ghosts).toEqual([{ username: 'ghost1' }]);
    } finally {
      await other.close();
    }
  });
});
