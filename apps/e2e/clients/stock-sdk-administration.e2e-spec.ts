import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

/**
 * Calls of administrators and developers to the admin service with an unmodified public API client.
 * Source: reference packages-and-admin 7, 8, 9, 10.
 */
const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
let serial = 0;
async function aProject() {
  const path = `admin${++serial}-${mark}`;
  const group = await root.Groups.create(path, path);
  return root.Projects.create({ name: 'eggs', namespaceId: group.id });
}

describe('feature flags', () => {
  it('are created, changed, listed and removed, with their user lists', async () => {
    const { id } = await aProject();
    const made = await root.FeatureFlagUserLists.create(id, 'Testers', 'wren,robin');
    expect(made).toMatchObject({ iid: 1, project_id: id, user_xids: 'wren,robin' });
    expect(await root.FeatureFlagUserLists.edit(id, made.iid, { userXIds: 'magpie' })).toMatchObject({
      name: 'Testers',
      user_xids: 'magpie',
    });
    expect((await root.FeatureFlagUserLists.all(id, { search: 'test' })).map(({ iid }) => iid)).toEqual([1]);
    expect(await root.FeatureFlagUserLists.show(id, made.iid)).toMatchObject({ user_xids: 'magpie' });

    const flag = await root.FeatureFlags.create(id, 'blue_eggs', 'new_version_flag', {
      description: 'They are blue.',
      strategies: [
        { name: 'gitlabUserList', parameters: {}, userListId: made.id, scopes: [{ environmentScope: '*' }] },
      ],
    } as never);
    expect(flag).toMatchObject({ active: true, version: 'new_version_flag' });
    expect(flag.strategies).toMatchObject([{ scopes: [{ environment_scope: '*' }], user_list: { iid: 1 } }]);
    await expect(root.FeatureFlagUserLists.remove(id, made.iid)).rejects.toThrow();
    const edited = await root.FeatureFlags.edit(id, 'blue_eggs', {
      active: false,
      strategies: [{ id: flag.strategies![0]!.id!, name: 'default', parameters: {} }],
    } as never);
    expect(edited).toMatchObject({ active: false, strategies: [{ name: 'default', user_list: null }] });
    expect((await root.FeatureFlags.all(id, { scope: 'disabled' })).map(({ name }) => name)).toEqual(['blue_eggs']);
    expect(await root.FeatureFlags.show(id, 'blue_eggs')).toMatchObject({ description: 'They are blue.' });
    await root.FeatureFlags.remove(id, 'blue_eggs');
    expect(await root.FeatureFlags.all(id)).toEqual([]);
    await root.FeatureFlagUserLists.remove(id, made.iid);
    expect(await root.FeatureFlagUserLists.all(id)).toEqual([]);
  });
});

describe('broadcast messages', () => {
  it('are created, read anonymously, changed and removed', async () => {
    const made = await root.BroadcastMessages.create({
      message: `Tea at four, ${mark}`,
      startsAt: '2026-11-22T10:00:00Z',
      endsAt: '2999-01-01T00:00:00Z',
      font: '#abc',
      targetAccessLevels: [30, 40],
      targetPath: '/nests/*',
      broadcastType: 'notification',
      dismissable: true,
      color: '#123456',
    } as never);
    expect(made).toEqual({
      id: expect.any(Number),
      message: `Tea at four, ${mark}`,
      starts_at: '2026-11-22T10:00:00.000Z',
      ends_at: '2999-01-01T00:00:00.000Z',
      font: '#abc',
      target_access_levels: [30, 40],
      target_path: '/nests/*',
      broadcast_type: 'notification',
      theme: 'indigo',
      dismissable: true,
      active: true,
    });
    const anonymous = new Gitlab({ host: estate.baseUrl, token: '' });
    try {
      expect(await anonymous.BroadcastMessages.show(made.id)).toEqual(made);
      expect((await anonymous.BroadcastMessages.all()).map(({ id }) => id)).toContain(made.id);
      await expect(anonymous.BroadcastMessages.create({ message: 'Tea' } as never)).rejects.toThrow();
      const edited = await root.BroadcastMessages.edit(made.id, { targetAccessLevels: [10], theme: 'red' } as never);
      expect(edited).toEqual({ ...made, target_access_levels: [10], theme: 'red' });
    } finally {
      await root.BroadcastMessages.remove(made.id);
    }
    await expect(root.BroadcastMessages.show(made.id)).rejects.toThrow();
  });
});

describe('the licence and the limits of plans', () => {
  it('are shown', async () => {
    const license = await root.License.show();
    expect(license).toMatchObject({ id: 1, plan: 'ultimate', expired: false, expires_at: null });
    expect(license.active_users).toBeGreaterThan(0);
    expect((await root.License.all()).map(({ id }) => id)).toEqual([1]);
    expect(await root.ApplicationPlanLimits.show({ planName: 'free' } as never)).toMatchObject({
      project_feature_flags: 200,
    });
  });
});

describe('application settings', () => {
  it('are shown and changed', async () => {
    const before = await root.ApplicationSettings.show();
    expect(before).toMatchObject({ deletion_adjourned_period: expect.any(Number) });
    const most = before['max_personal_access_token_lifetime'] as number;
    try {
      const edited = await root.ApplicationSettings.edit({ maxPersonalAccessTokenLifetime: most - 1 } as never);
      expect(edited).toEqual({ ...before, max_personal_access_token_lifetime: most - 1 });
    } finally {
      await root.ApplicationSettings.edit({ maxPersonalAccessTokenLifetime: most } as never);
    }
    expect(await root.ApplicationSettings.show()).toEqual(before);
  });
});

describe.each(['GeoSites', 'GeoNodes'] as const)('%s', (noun) => {
  it('are created, changed, shown and removed', async () => {
    const name = `himalaya-${noun}-${mark}`;
    const made = await root[noun].create(name, 'https://himalaya.example', { reposMaxCapacity: 5 });
    expect(made).toMatchObject({ name, url: 'https://himalaya.example/', primary: false, repos_max_capacity: 5 });
    const { id } = made;
    expect(await root[noun].edit(id, { enabled: false, selectiveSyncNamespaceIds: [1, 2] } as never)).toMatchObject({
      enabled: false,
      selective_sync_namespace_ids: [1, 2],
    });
    expect((await root[noun].all()).map((site) => site.id)).toContain(id);
    expect(await root[noun].show(id)).toMatchObject({ name, current: false });
    await root[noun].edit(id, { enabled: true });
    // No server answers at this URL, so the site is unhealthy.
    const repaired: unknown = await root[noun].repair(id);
    expect(repaired).toMatchObject({ id, healthy: false, health_status: 'Unhealthy' });
    const status: unknown = await root[noun].showStatus(id);
    expect(status).toMatchObject({ geo_node_id: id, healthy: false });
    const statuses = (await root[noun].allStatuses()) as unknown as { geo_node_id: number }[];
    expect(statuses.map((one) => one.geo_node_id)).toContain(id);
    // This estate is no site unless another test made it the primary.
    await expect(root[noun].allFailures()).rejects.toThrow(/Geo site not found|from a secondary site/);
    await root[noun].remove(id);
    await expect(root[noun].show(id)).rejects.toThrow();
  });
});
