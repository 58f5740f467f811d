import { aViewer, anonymousViewer, refusalOrder } from '@rookery/testing';
import { inDays, maker } from '../support/groups-and-projects';
import { startIdentity } from '../support/identity-app';
import type { IdentityApp, Person } from '../support/identity-app';

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

const viewer = ({ id, username }: Person) => aViewer({ userId: id, username });

describe('POST /groups/:id/restore', () => {
  it('takes the mark away, by id and by path', async () => {
    const own = await group(ada);
    for (const ref of [own.id, encodeURIComponent(own.full_path)]) {
      await ada.client.delete(`/groups/${own.id}`).json();
      const { status, body } = await ada.client.post(`/groups/${ref}/restore`).body({});
      expect([status, body.id, body.marked_for_deletion_on, body.shared_with_groups]).toEqual([201, own.id, null, []]);
      for (const key of ['projects', 'runners_token']) expect(body).not.toHaveProperty(key);
    }
    const again = await ada.client.post(`/groups/${own.id}/restore`);
    expect([again.status, again.body]).toEqual([400, { message: 'Group has not been marked for deletion' }]);
    const [recorded] = await identity.db.query<{ kind: string; entity_id: number }>(
      `select kind, entity_id from directory_changes order by version desc, ordinal desc limit 1`,
    );
    expect(recorded).toEqual({ kind: 'namespace', entity_id: own.id });
  });

  it('is for owners', async () => {
    const own = await group(ada);
    await join(`/groups/${own.id}`, bob, 40);
    await ada.client.delete(`/groups/${own.id}`).json();
    const restore = async (client: typeof identity.nobody) => {
      const { status, body } = await client.post(`/groups/${own.id}/restore`).send();
      return [status, body];
    };
    const stranger = await person();
    expect(await restore(identity.nobody)).toEqual([401, { message: '401 Unauthorized' }]);
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
  const tokenOf = ({ id }: { id: number }, over: object = {}) =>
    identity.root
      .post(`/users/${id}/personal_access_tokens`)
      .body({ name: 'leaked', scopes: ['read_api'], expires_at: inDays(10), ...over })
      .json<Token>();
  const revoke = async (own: { id: number }, token: unknown, by = ada.client) => {
    const { status, body } = await by.post(`/groups/${own.id}/tokens/revoke`).body({ token });
    return { status, body };
  };
  const failure = { status: 422, body: { message: '422 Unprocessable Entity' } };

  it('revokes tokens of members of the group, of what lies below it, and of invited groups', async () => {
    const top = await group(ada);
    const below = await group(ada, { parent_id: top.id });
    const inside = await project(ada, { namespace_id: below.id });
    const invited = await group(bob, { visibility: 'internal' });
    await ada.client.post(`/groups/${below.id}/share`).body({ group_id: invited.id, group_access: 10 }).json();
    const people = await Promise.all(Array.from({ length: 4 }, () => person()));
    await join(`/groups/${top.id}`, people[0]!, 10);
    await join(`/groups/${below.id}`, people[1]!, 30);
    await join(`/projects/${inside.id}`, people[2]!, 20);
    await join(`/groups/${invited.id}`, people[3]!, 30);
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
      // Once is enough.
      expect(await revoke(top, leaked.token)).toEqual(failure);
      const [recorded] = await identity.db.query<{ kind: string }>(
        `select kind from directory_changes where kind = 'token' and entity_id = $1 order by version desc limit 1`,
        [leaked.id],
      );
      expect(recorded).toEqual({ kind: 'token' });
    }
  });

  it('tells nothing of other tokens', async () => {
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
    expect((await ada.client.post(`/groups/${top.id}/tokens/revoke`)).body).toEqual({ error: 'token is missing' });
    expect((await revoke(top, token, identity.root)).status).toBe(200);
  });

  refusalOrder(
    () => identity.app,
    async () => {
      const own = await group(ada);
      await join(`/groups/${own.id}`, bob, 40);
      const { token } = await tokenOf(ada);
      const stranger = await person();
      return {
        method: 'POST',
        path: `/groups/${own.id}/tokens/revoke`,
        good: { token },
        bad: { token: ['x'] },
        anonymous: anonymousViewer(),
        outsider: viewer(stranger),
        reader: viewer(bob),
        allowed: viewer(ada),
      };
    },
  );
});

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const picture = (bytes: Uint8Array = PNG) => ({ avatar: { filename: 'logo.png', bytes } });

describe('the picture of a group', () => {
  it('comes with creation, changes, and goes', async () => {
    const path = 'with-picture';
    const made = await ada.client.post('/groups').multipart({ name: path, path, file: '' }, picture());
    expect(made.status).toBe(201);
    const url = `http://localhost:8080/uploads/-/system/group/avatar/${made.body.id}/logo.png`;
    expect(made.body.avatar_url).toBe(url);
    const one = `/groups/${made.body.id}`;
    expect((await ada.client.put(one).body({ description: 'x' })).body.avatar_url).toBe(url);
    expect((await ada.client.put(one).multipart({ avatar: '' })).body.avatar_url).toBeNull();
    expect((await ada.client.put(one).multipart({}, picture())).body.avatar_url).toBe(url);
    expect((await ada.client.put(one).body({ avatar: '' })).body.avatar_url).toBeNull();
  });

  it('is refused when it is none', async () => {
    const own = await group(ada);
    const refused = await ada.client.put(`/groups/${own.id}`).multipart({}, picture(Buffer.from('<svg/>')));
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { avatar: [expect.stringContaining('file format is not supported.')] } },
    ]);
    const big = await ada.client
      .put(`/groups/${own.id}`)
      .multipart({}, picture(Buffer.concat([PNG, Buffer.alloc(210_000)])));
    expect(big.body).toEqual({ message: { avatar: ['is too big (should be at most 200 KiB)'] } });
    const made = await ada.client
      .post('/groups')
      .multipart({ name: 'no', path: 'no-picture' }, picture(Buffer.from('x')));
    expect([made.status, made.body.message]).toEqual([
      400,
      expect.stringContaining('Failed to save group {:avatar=>['),
    ]);
  });
});

describe('settings of a group', () => {
  it('show custom attributes to administrators who ask', async () => {
    const own = await group(ada);
    await identity.root.put(`/groups/${own.id}/custom_attributes/place`).body({ value: 'Oslo' }).json();
    const one = `/groups/${own.id}`;
    const attributes = async (client: typeof identity.nobody, query = {}) =>
      (await client.get(one).query(query)).body.custom_attributes;
    expect(await attributes(identity.root, { with_custom_attributes: true })).toEqual([
      { key: 'place', value: 'Oslo' },
    ]);
    expect(await attributes(identity.root)).toBeUndefined();
    expect(await attributes(ada.client, { with_custom_attributes: true })).toBeUndefined();
  });

  it('take every enumerated value', async () => {
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
        const { body } = await ada.client.put(`/groups/${own.id}`).body({ [field]: value });
        expect([field, body[field]]).toEqual([field, value]);
      }
      const { status, body } = await ada.client.put(`/groups/${own.id}`).body({ [field]: 77 });
      expect([field, status, body]).toEqual([field, 400, { error: `${field} does not have a valid value` }]);
    }
  });

  it('keep what administrators give, and what only owners see', async () => {
    const own = await group(ada, { shared_runners_minutes_limit: 5, visibility: 'public' });
    const one = `/groups/${own.id}`;
    const limits = { shared_runners_minutes_limit: 7, extra_shared_runners_minutes_limit: 8 };
    expect((await ada.client.put(one).body(limits)).body).toMatchObject({
      shared_runners_minutes_limit: null,
      extra_shared_runners_minutes_limit: null,
    });
    expect((await identity.root.put(one).body(limits)).body).toMatchObject(limits);
    const downloads = {
      unique_project_download_limit: 10,
      unique_project_download_limit_interval_in_seconds: 60,
      unique_project_download_limit_allowlist: ['ada'],
      unique_project_download_limit_alertlist: [ada.id],
      auto_ban_user_on_excessive_projects_download: true,
    };
    expect((await ada.client.put(one).body(downloads)).body).toMatchObject(downloads);
    expect((await ada.client.get(one)).body).toMatchObject(downloads);
    for (const field of Object.keys(downloads)) expect((await bob.client.get(one)).body).not.toHaveProperty(field);
  });

  it('take ranges of addresses of top-level groups only', async () => {
    const own = await group(ada);
    const below = await group(ada, { parent_id: own.id });
    const put = async ({ id }: { id: number }, ip_restriction_ranges: string | null) =>
      (await ada.client.put(`/groups/${id}`).body({ ip_restriction_ranges })).body;
    expect((await put(own, '10.0.0.0/8,::1')).ip_restriction_ranges).toBe('10.0.0.0/8,::1');
    expect(await put(own, '10.0.0.0/64')).toEqual({
      message: { ip_restriction_ranges: ['is an invalid IP address range'] },
    });
    expect(await put(below, '10.0.0.0/8')).toEqual({
      message: { ip_restriction_ranges: ['IP subnet restriction only allowed for top-level groups'] },
    });
    expect((await put(own, null)).ip_restriction_ranges).toBeNull();
  });

  it('never give 5xx for odd values', async () => {
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
      const { status } = await ada.client.put(`/groups/${own.id}`).body(body);
      expect([body, status < 500]).toEqual([body, true]);
    }
  });

  it('refuse an organization that is not there', async () => {
    const refused = await ada.client.post('/groups').body({ name: 'o', path: 'oo', organization_id: 7 });
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Organization Not Found' }]);
  });
});
