import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

/** Epics of groups, by an API client that people already use, unmodified. */
describe('epics with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const { Epics } = root;
  let groupId: number;

  beforeAll(async () => {
    const path = `epics-${mark}`;
    groupId = (await root.Groups.create(path, path)).id;
    const plan = await fetch(`${estate.baseUrl}/api/v4/namespaces/${groupId}`, {
      method: 'PUT',
      headers: { 'private-token': estate.rootToken, 'content-type': 'application/json' },
      body: JSON.stringify({ plan: 'ultimate' }),
    });
    expect(plan.status).toBe(200);
  });

  it('opens, lists, changes and removes them', async () => {
    const made = await Epics.create(groupId, 'Nests', { labels: 'wood', description: 'All of them' });
    expect(made).toMatchObject({ iid: 1, group_id: groupId, title: 'Nests', labels: ['wood'], state: 'opened' });
    expect(await Epics.show(groupId, made.iid)).toMatchObject({ id: made.id, subscribed: true });
    expect((await Epics.all(groupId, { labels: 'wood', state: 'opened' })).map(({ id }) => id)).toEqual([made.id]);
    expect(await Epics.edit(groupId, made.iid, { title: 'Eggs', stateEvent: 'close' })).toMatchObject({
      title: 'Eggs',
      state: 'closed',
    });
    await Epics.remove(groupId, made.iid);
    await expect(Epics.show(groupId, made.iid)).rejects.toThrow(/404|Not found/i);
  });
});
