import { makeViewer, anonymousViewer, registerRefusalOrderTests } from '@rookery/testing';
import type { Test } from 'supertest';
import { DropIpRestrictionRanges1767225600041 } from '../../src/migrations/1767225600041-drop-ip-restriction-ranges';
import { inDays, maker } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { group, project, person, join } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

const viewerOf = ({ id, username }: Person) => makeViewer({ userId: id, username });

describe('POST /groups/:id/restore', () => {
  it('restores a group, by id and by path', async () => {
    const own = await group(ada);
    const scheduled = `${own.full_path}-deletion_scheduled-${own.id}`;
    for (const ref of [own.id, encodeURIComponent(scheduled)]) {
      await ada.client.delete(`/api/v4/groups/${own.id}`).expect(202);
      const { status, body } = await ada.client.post(`/api/v4/groups/${ref}/restore`).send({});
      expect([status, body.id, body.marked_for_deletion_on, body.shared_with_groups]).toEqual([201, own.id, null, []]);
      expect([body.full_path, body.name]).toEqual([own.full_path, own.name]);
      for (const key of ['projects', 'runners_token']) expect(body).not.toHaveProperty(key);
    }
    const again = await ada.client.post(`/api/v4/groups/${own.id}/restore`);
    expect([again.status, again.body]).toEqual([400, { message: 'Group has not been marked for deletion' }]);
    const [recorded] = await identity.db.query<{ kind: string; entity_id: number }>(
      `select kind, entity_id from directory_changes order by version desc, ordinal desc limit 1`,
    );
    expect(recorded).toEqual({ kind: 'namespace', entity_id: own.id });
  });

  it('publishes the group and those below it as read-only, and as writable again', async () => {
    const own = await group(ada);
    const sent = { name: 'below', path: `below-${own.id}`, parent_id: own.id };
    const below = (await ada.client.post('/api/v4/groups').send(sent).expect(201)).body as { readonly id: number };
    const published = async (): Promise<unknown[]> => {
      const rows = await identity.db.query<{ archived: boolean }>(
        `select distinct on (entity_id) (state ->> 'archived')::boolean as archived from directory_changes
         where kind = 'namespace' and entity_id = any($1) order by entity_id, version desc`,
        [[own.id, below.id]],
      );
      return rows.map(({ archived }) => archived);
    };
    expect(await published()).toEqual([false, false]);
    await ada.client.delete(`/api/v4/groups/${own.id}`).expect(202);
    expect(await published()).toEqual([true, true]);
    await ada.client.post(`/api/v4/groups/${own.id}/restore`).expect(201);
    expect(await published()).toEqual([false, false]);
  });

  it('takes no new contents while it is marked, not from administrators either', async () => {
    const above = await group(ada);
    const sent = { name: 'in', path: `in-${above.id}`, parent_id: above.id };
    const marked = (await ada.client.post('/api/v4/groups').send(sent).expect(201)).body as { readonly id: number };
    const loose = await group(ada);
    const moving = await project(ada);
    const forked = await project(ada, { visibility: 'public' });
    await ada.client.delete(`/api/v4/groups/${above.id}`).expect(202);
    for (const { client } of [ada, { client: identity.root }]) {
      const refusals = await Promise.all([
        client.post('/api/v4/groups').send({ name: 'n', path: `n-${above.id}`, parent_id: marked.id }),
        client.post(`/api/v4/groups/${loose.id}/transfer`).send({ group_id: marked.id }),
        client.post('/api/v4/projects').send({ name: 'n', namespace_id: marked.id }),
        client.put(`/api/v4/projects/${moving.id}/transfer`).send({ namespace: marked.id }),
        client.post(`/api/v4/projects/${forked.id}/fork`).send({ namespace_id: marked.id }),
      ]);
      expect(refusals.map(({ status, body }) => [status, body])).toEqual([
        [403, { message: '403 Forbidden' }],
        [400, { message: "Transfer failed: You don't have enough permissions." }],
        [400, { message: { namespace: ['is not valid'] } }],
        [400, { message: expect.any(String) }],
        [404, { message: '404 Target Namespace Not Found' }],
      ]);
    }
    await ada.client.post(`/api/v4/groups/${above.id}/restore`).expect(201);
    await ada.client.post('/api/v4/projects').send({ name: 'n', namespace_id: marked.id }).expect(201);
  });

  it('requires owners', async () => {
    const own = await group(ada);
    await join(`/api/v4/groups/${own.id}`, bob, 40);
    await ada.client.delete(`/api/v4/groups/${own.id}`).expect(202);
    const restore = async (client: typeof identity.anonymous) => {
      const { status, body } = await client.post(`/api/v4/groups/${own.id}/restore`);
      return [status, body];
    };
    const stranger = await person();
    expect(await restore(identity.anonymous)).toEqual([401, { message: '401 Unauthorized' }]);
    expect(await restore(stranger.client)).toEqual([404, { message: '404 Group Not Found' }]);
    expect(await restore(bob.client)).toEqual([403, { message: '403 Forbidden' }]);
    expect((await restore(identity.root))[0]).toBe(201);
  });
});

describe('POST /groups/:id/tokens/revoke', () => {
  interface Token {
    readonly id: number;
    readonly token: string;
  }
  const tokenOf = async ({ id }: { id: number }, over: object = {}) =>
    (
      await identity.root
        .post(`/api/v4/users/${id}/personal_access_tokens`)
        .send({ name: 'leaked', scopes: ['read_api'], expires_at: inDays(10), ...over })
        .expect(201)
    ).body as Token;
  const revoke = async (own: { id: number }, token: unknown, by = ada.client) => {
    const { status, body } = await by.post(`/api/v4/groups/${own.id}/tokens/revoke`).send({ token });
    return { status, body };
  };
  const failure = { status: 422, body: { message: '422 Unprocessable Entity' } };

  it('revokes tokens of members of the group, of groups and projects below it, and of invited groups', async () => {
    const top = await group(ada);
    const below = await group(ada, { parent_id: top.id });
    const inside = await project(ada, { namespace_id: below.id });
    const invited = await group(bob, { visibility: 'internal' });
    await ada.client
      .post(`/api/v4/groups/${below.id}/share`)
      .send({ group_id: invited.id, group_access: 10 })
      .expect(201);
    const people = await Promise.all(Array.from({ length: 4 }, () => person()));
    await join(`/api/v4/groups/${top.id}`, people[0]!, 10);
    await join(`/api/v4/groups/${below.id}`, people[1]!, 30);
    await join(`/api/v4/projects/${inside.id}`, people[2]!, 20);
    await join(`/api/v4/groups/${invited.id}`, people[3]!, 30);
    for (const who of people) {
      const leaked = await tokenOf(who);
      const { status, body } = await revoke(top, leaked.token);
      expect([status, body]).toEqual([
        200,
        {
          id: leaked.id,
          name: 'leaked',
          revoked: true,
          created_at: expect.any(String),
          description: null,
          scopes: ['read_api'],
          user_id: who.id,
          last_used_at: null,
          last_used_ips: [],
          active: false,
          expires_at: inDays(10),
        },
      ]);
      // Revoking twice is not an error.
      expect(await revoke(top, leaked.token)).toEqual(failure);
      const [recorded] = await identity.db.query<{ kind: string }>(
        `select kind from directory_changes where kind = 'token' and entity_id = $1 order by version desc limit 1`,
        [leaked.id],
      );
      expect(recorded).toEqual({ kind: 'token' });
    }
  });

  it('discloses nothing about other tokens', async () => {
    const top = await group(ada, { visibility: 'public' });
    const stranger = await person();
    const expired = await tokenOf(ada);
    await identity.db.query(`update access_tokens set expires_on = $2 where id = $1`, [expired.id, inDays(0)]);
    const strange = await tokenOf(stranger);
    for (const token of [strange.token, expired.token, 'glpat-nosuchtoken', '', 'ü'.repeat(5000)]) {
      expect({ token, ...(await revoke(top, token)) }).toEqual({ token, ...failure });
    }
    const [row] = await identity.db.query<{ revoked: boolean }>(`select revoked from access_tokens where id = $1`, [
      strange.id,
    ]);
    expect(row).toEqual({ revoked: false });
  });

  it('is for top-level groups', async () => {
    const top = await group(ada);
    const below = await group(ada, { parent_id: top.id });
    const { token } = await tokenOf(ada);
    expect(await revoke(below, token)).toEqual({
      status: 400,
      body: { message: '400 Bad request - Must be a top-level group' },
    });
    expect((await ada.client.post(`/api/v4/groups/${top.id}/tokens/revoke`)).body).toEqual({
      error: 'token is missing',
    });
    expect((await revoke(top, token, identity.root)).status).toBe(200);
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => {
      const own = await group(ada);
      await join(`/api/v4/groups/${own.id}`, bob, 40);
      const { token } = await tokenOf(ada);
      const stranger = await person();
      return {
        method: 'POST',
        path: `/api/v4/groups/${own.id}/tokens/revoke`,
        good: { token },
        bad: { token: ['x'] },
        anonymous: anonymousViewer(),
        outsider: viewerOf(stranger),
        reader: viewerOf(bob),
        allowed: viewerOf(ada),
      };
    },
  );
});

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const withPicture = (request: Test, bytes: Buffer = PNG) => request.attach('avatar', bytes, 'logo.png');

describe('the avatar of a group', () => {
  it('can be sent on creation, changed and removed', async () => {
    const path = 'with-picture';
    const made = await withPicture(ada.client.post('/api/v4/groups').field({ name: path, path, file: '' })).expect(201);
    const url = `http://localhost:8080/uploads/-/system/group/avatar/${made.body.id}/logo.png`;
    expect(made.body.avatar_url).toBe(url);
    const one = `/api/v4/groups/${made.body.id}`;
    expect((await ada.client.put(one).send({ description: 'x' })).body.avatar_url).toBe(url);
    expect((await ada.client.put(one).field({ avatar: '' })).body.avatar_url).toBeNull();
    expect((await withPicture(ada.client.put(one))).body.avatar_url).toBe(url);
    expect((await ada.client.put(one).send({ avatar: '' })).body.avatar_url).toBeNull();
  });

  it('is refused if it is not an image', async () => {
    const own = await group(ada);
    const refused = await withPicture(ada.client.put(`/api/v4/groups/${own.id}`), Buffer.from('<svg/>'));
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { avatar: [expect.stringContaining('file format is not supported.')] } },
    ]);
    const big = await withPicture(
      ada.client.put(`/api/v4/groups/${own.id}`),
      Buffer.concat([PNG, Buffer.alloc(210_000)]),
    );
    expect(big.body).toEqual({ message: { avatar: ['is too big (should be at most 200 KiB)'] } });
    const made = await withPicture(
      ada.client.post('/api/v4/groups').field({ name: 'no', path: 'no-picture' }),
      Buffer.from('x'),
    );
    expect([made.status, made.body.message]).toEqual([
      400,
      expect.stringContaining('Failed to save group {:avatar=>['),
    ]);
  });
});

describe('settings of a group', () => {
  it('show custom attributes to administrators on request', async () => {
    const own = await group(ada);
    await identity.root.put(`/api/v4/groups/${own.id}/custom_attributes/place`).send({ value: 'Oslo' }).expect(200);
    const one = `/api/v4/groups/${own.id}`;
    const attributes = async (client: typeof identity.anonymous, query = {}) =>
      (await client.get(one).query(query)).body.custom_attributes;
    expect(await attributes(identity.root, { with_custom_attributes: true })).toEqual([
      { key: 'place', value: 'Oslo' },
    ]);
    expect(await attributes(identity.root)).toBeUndefined();
    expect(await attributes(ada.client, { with_custom_attributes: true })).toBeUndefined();
  });

  it('accept every enumerated value', async () => {
    const own = await group(ada);
    const values = {
      enabled_git_access_protocol: ['ssh', 'http', 'all', 'ssh_certificates'],
      wiki_access_level: ['disabled', 'private', 'enabled'],
      project_creation_level: ['noone', 'maintainer', 'developer', 'owner', 'administrator'],
      subgroup_creation_level: ['owner', 'maintainer'],
      assistant_availability: ['default_on', 'default_off', 'never_on'],
      shared_runners_setting: ['disabled_and_unoverridable', 'disabled_and_overridable', 'enabled'],
      default_branch_protection: [0, 1, 2, 3, 4],
    };
    for (const [field, allowed] of Object.entries(values)) {
      for (const value of allowed) {
        const { body } = await ada.client.put(`/api/v4/groups/${own.id}`).send({ [field]: value });
        expect([field, body[field]]).toEqual([field, value]);
      }
      const { status, body } = await ada.client.put(`/api/v4/groups/${own.id}`).send({ [field]: 77 });
      expect([field, status, body]).toEqual([field, 400, { error: `${field} does not have a valid value` }]);
    }
  });

  it('store values that only administrators may set, and those that only owners see', async () => {
    const own = await group(ada, { shared_runners_minutes_limit: 5, visibility: 'public' });
    const one = `/api/v4/groups/${own.id}`;
    const limits = { shared_runners_minutes_limit: 7, extra_shared_runners_minutes_limit: 8 };
    expect((await ada.client.put(one).send(limits)).body).toMatchObject({
      shared_runners_minutes_limit: null,
      extra_shared_runners_minutes_limit: null,
    });
    expect((await identity.root.put(one).send(limits)).body).toMatchObject(limits);
    const downloads = {
      unique_project_download_limit: 10,
      unique_project_download_limit_interval_in_seconds: 60,
      unique_project_download_limit_allowlist: ['ada'],
      unique_project_download_limit_alertlist: [ada.id],
      auto_ban_user_on_excessive_projects_download: true,
    };
    expect((await ada.client.put(one).send(downloads)).body).toMatchObject(downloads);
    expect((await ada.client.get(one)).body).toMatchObject(downloads);
    for (const field of Object.keys(downloads)) expect((await bob.client.get(one)).body).not.toHaveProperty(field);
  });

  it('refuse restrictions by IP address, which are not enforced', async () => {
    const own = await group(ada);
    const below = await group(ada, { parent_id: own.id });
    const settingsOf = async ({ id }: { id: number }) =>
      (await identity.db.query<{ settings: object }>(`select settings from namespaces where id = $1`, [id]))[0]!
        .settings;
    const put = ({ id }: { id: number }, ip_restriction_ranges: unknown) =>
      ada.client.put(`/api/v4/groups/${id}`).send({ ip_restriction_ranges });
    for (const one of [own, below]) {
      for (const ranges of ['10.0.0.0/8,::1', '10.0.0.0/64', 'example.com', ',', Array(101).fill('10.0.0.1').join()]) {
        const { status, body } = await put(one, ranges);
        const refusal = { message: { ip_restriction_ranges: ['is not supported'] } };
        expect([ranges, status, body]).toEqual([ranges, 400, refusal]);
      }
      for (const nothing of [null, '', ' ']) {
        const { status, body } = await put(one, nothing);
        expect([status, body.ip_restriction_ranges]).toEqual([200, null]);
      }
      expect(await settingsOf(one)).not.toHaveProperty('ip_restriction_ranges');
    }
    // A change is refused as a whole.
    const both = await ada.client
      .put(`/api/v4/groups/${own.id}`)
      .type('form')
      .send({ ip_restriction_ranges: '10.0.0.1', description: 'closed' });
    expect([both.status, both.body]).toEqual([400, { message: { ip_restriction_ranges: ['is not supported'] } }]);
    expect((await ada.client.get(`/api/v4/groups/${own.id}`)).body.description).toBe('');
  });

  it('do not show ranges that a previous release stored, which a migration drops', async () => {
    const own = await group(ada);
    const settings = () =>
      identity.db.query<{ settings: object }>(`select settings from namespaces where id = $1`, [own.id]);
    await identity.db.query(
      `update namespaces set settings = settings || '{"ip_restriction_ranges":"10.0.0.0/8","lfs_enabled":false}' where id = $1`,
      [own.id],
    );
    const shown = { ip_restriction_ranges: null, lfs_enabled: false };
    expect((await ada.client.get(`/api/v4/groups/${own.id}`)).body).toMatchObject(shown);
    await identity.db.dataSource.transaction((manager) =>
      new DropIpRestrictionRanges1767225600041().up(manager.queryRunner!),
    );
    expect(await settings()).toEqual([{ settings: { lfs_enabled: false } }]);
  });

  describe('about allowed members', () => {
    let top: { id: number; full_path: string };
    let below: { id: number };
    let inviting: { id: number };
    beforeAll(async () => {
      top = await group(ada, { visibility: 'public' });
      below = await group(ada, { visibility: 'public', parent_id: top.id });
      inviting = await group(ada, { visibility: 'public' });
      await ada.client.put(`/api/v4/groups/${top.id}`).send({ allowed_email_domains_list: 'nest.example' }).expect(200);
      const share = { group_id: top.id, group_access: 50 };
      await ada.client.post(`/api/v4/groups/${inviting.id}/share`).send(share).expect(201);
    });
    type Row = Readonly<Record<string, unknown>> & { readonly id: number };
    const FIELDS = ['ip_restriction_ranges', 'allowed_email_domains_list'];
    const fieldsOf = (one: Row | undefined): string[] => FIELDS.filter((field) => field in one!);
    const lists = (): [string, number][] => [
      ['/api/v4/groups?all_available=true&per_page=100', top.id],
      [`/api/v4/groups/${top.id}/subgroups?all_available=true`, below.id],
      [`/api/v4/groups/${top.id}/descendant_groups?all_available=true`, below.id],
      [`/api/v4/groups/${inviting.id}/invited_groups`, top.id],
      [`/api/v4/groups/${top.id}/groups/shared`, inviting.id],
    ];

    it.each<[string, () => Promise<Person | null>, boolean]>([
      ['anonymous callers', async () => null, false],
      ['a stranger', () => person(), false],
      ['an administrator', async () => ({ ...ada, client: identity.root }), true],
      ['the owner', async () => ada, true],
      ...[10, 15, 20, 30, 40].map((level): [string, () => Promise<Person>, boolean] => [
        `a member with ${level}`,
        async () => {
          const member = await person({ email: `m${level}@nest.example` });
          for (const { id } of [top, inviting]) await join(`/api/v4/groups/${id}`, member, level);
          return member;
        },
        false,
      ]),
      [
        'another owner',
        async () => {
          const owner = await person({ email: 'o@nest.example' });
          await join(`/api/v4/groups/${top.id}`, owner, 50);
          return owner;
        },
        true,
      ],
    ])('show %s only the visible ones', async (_, getPerson, isOwner) => {
      const client = (await getPerson())?.client ?? identity.anonymous;
      const { body } = await client.get(`/api/v4/groups/${top.id}`).expect(200);
      expect(fieldsOf(body)).toEqual(isOwner ? FIELDS : []);
      if (isOwner) expect(body.allowed_email_domains_list).toBe('nest.example');
      for (const [path, id] of lists()) {
        const { body: rows } = await client.get(path).expect(200);
        const row = (rows as Row[]).find((one) => one.id === id);
        expect([path, fieldsOf(row)]).toEqual([path, []]);
      }
    });

    it('show the same ones in answers of changes', async () => {
      const { body: made } = await ada.client
        .post('/api/v4/groups')
        .send({ name: 'told', path: 'told', parent_id: top.id })
        .expect(201);
      expect(fieldsOf(made)).toEqual(FIELDS);
      const { body: changed } = await ada.client
        .put(`/api/v4/groups/${made.id}`)
        .send({ description: 'x' })
        .expect(200);
      expect(fieldsOf(changed)).toEqual(FIELDS);
    });
  });

  it('never cause 5xx with odd values', async () => {
    const own = await group(ada);
    for (const body of [
      { name: 'a\0b' },
      { path: ['x'] },
      { description: { a: 1 } },
      { two_factor_grace_period: '99999999999999999999' },
      { default_branch_protection_defaults: 'x' },
      { default_branch_protection_defaults: { allowed_to_push: [{ access_level: 99 }] } },
      { file_template_project_id: 1e30 },
      { avatar: { a: 1 } },
    ]) {
      const { status } = await ada.client.put(`/api/v4/groups/${own.id}`).send(body);
      expect([body, status < 500]).toEqual([body, true]);
    }
  });

  it('refuse an unknown organization', async () => {
    const refused = await ada.client.post('/api/v4/groups').send({ name: 'o', path: 'oo', organization_id: 7 });
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Organization Not Found' }]);
  });
});
