import { Unleash } from 'unleash-client';
import { call, estate, eventually, mark, person, projectOf } from '../support/estate';

/** An unmodified Unleash client against flags that are set through the API. */
describe('feature flags by an Unleash client', () => {
  const clients: Unleash[] = [];
  interface Followed {
    readonly client: Unleash;
    /** Registered at the start, because the client may register before or after it has the flags. */
    readonly registered: Promise<void>;
  }
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
  });

  /** Creates a client that polls every 100 ms; resolves when it has the flags. */
  async function clientOf(project: number, token: string, environment = 'production'): Promise<Followed> {
    const client = new Unleash({
      url: `${estate.baseUrl}/api/v4/feature_flags/unleash/${project}`,
      appName: environment,
      instanceId: token,
      refreshInterval: 100,
      metricsInterval: 200,
      storageProvider: { set: () => Promise.resolve(), get: () => Promise.resolve(undefined) },
    });
    clients.push(client);
    const registered = new Promise<void>((resolve) => client.once('registered', () => resolve()));
    // The client retries on its own when a busy machine is late.
    let problem = '';
    client.on('error', (error) => (problem = String(error)));
    await eventually(
      () => [client.isSynchronized(), problem] as const,
      ([isSynchronized]) => isSynchronized,
    );
    return { client, registered };
  }

  it('evaluates a flag for the users of a list, and receives each change', async () => {
    const ada = await person('ada-flags');
    const project = await projectOf(ada, `flags-${mark}`);
    const as = { token: ada.token };
    const base = `/projects/${project.id}`;
    const list = await call('POST', `${base}/feature_flags_user_lists`, {
      ...as,
      json: { name: 'testers', user_xids: 'wren,robin' },
    });
    expect(list.status).toBe(201);
    const flag = await call('POST', `${base}/feature_flags`, {
      ...as,
      json: {
        name: 'blue-eggs',
        strategies: [
          { name: 'gitlabUserList', user_list_id: list.body.id, scopes: [{ environment_scope: 'prod*' }] },
          {
            name: 'flexibleRollout',
            parameters: { groupId: 'default', rollout: '100', stickiness: 'default' },
            scopes: [{ environment_scope: 'staging' }],
          },
        ],
      },
    });
    expect(flag.status).toBe(201);
    const { token } = (await call('GET', `${base}/feature_flags_client`, as)).body as { token: string };

    const { client: production, registered } = await clientOf(project.id, token);
    const counted = new Promise((resolve) => production.once('sent', resolve));
    const isOn = (userId: string) => production.isEnabled('blue-eggs', { userId });
    expect(['wren', 'robin', 'magpie'].map(isOn)).toEqual([true, true, false]);
    const { client: staging } = await clientOf(project.id, token, 'staging');
    expect(staging.isEnabled('blue-eggs', { userId: 'magpie' })).toBe(true);
    const { client: elsewhere } = await clientOf(project.id, token, 'test');
    expect(elsewhere.isEnabled('blue-eggs', { userId: 'wren' })).toBe(false);
    await Promise.all([registered, counted]);

    await call('PUT', `${base}/feature_flags_user_lists/${list.body.iid}`, { ...as, json: { user_xids: 'magpie' } });
    await eventually(
      () => ['wren', 'magpie'].map(isOn),
      ([wren, magpie]) => !wren && magpie === true,
    );
    await call('PUT', `${base}/feature_flags/blue-eggs`, { ...as, json: { active: false } });
    await eventually(
      () => isOn('magpie'),
      (is) => !is,
    );
    expect((await call('DELETE', `${base}/feature_flags_user_lists/${list.body.iid}`, as)).status).toBe(409);
  });

  it('is refused once the token was reset', async () => {
    const ada = await person('ada-reset');
    const project = await projectOf(ada, `reset-${mark}`);
    const path = `/projects/${project.id}/feature_flags_client`;
    const { token } = (await call('GET', path, { token: ada.token })).body as { token: string };
    const { client } = await clientOf(project.id, token);
    const problems: string[] = [];
    client.on('error', (error) => problems.push(String(error)));
    expect((await call('POST', `${path}/reset_token`, { token: ada.token })).status).toBe(200);
    await eventually(
      () => problems,
      (found) => found.some((problem) => problem.includes('401')),
    );
  });
});
