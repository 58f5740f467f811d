import { request } from 'undici';
import { Estate } from '../support/estate';
import type { Gateway } from '../support/estate';

describe('the way of a request', () => {
  const estate = new Estate();
  let gateway: Gateway;
  beforeAll(async () => {
    await estate.start();
    estate.identityInside.give('glpat-good');
    gateway = await estate.gateway();
  });
  afterAll(() => estate.stop());

  it('reaches the service with a signed context', async () => {
    const answer = await request(`${gateway.url}/api/v4/projects/a%2Fb/issues?state=opened`, {
      headers: { 'private-token': 'glpat-good' },
    });
    expect(answer.statusCode).toBe(200);
    expect(await answer.body.json()).toEqual({
      service: 'collaboration',
      url: '/api/v4/projects/a%2Fb/issues?state=opened',
    });
    expect(estate.collaboration.last.claims).toMatchObject({ sub: 7, usr: 'mina', tok: 70, ver: 100, epo: 'e1' });
  });
});
