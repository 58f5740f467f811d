import { makeViewer, startTestApp } from '@rookery/testing';
import type { TestApp } from '@rookery/testing';
import { WidgetsModule } from '../support/widgets';

const WIDGETS = '/api/v4/projects/3/widgets';
const reporter = makeViewer({ userId: 20 });

describe('an unread parameter', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ service: 'package', module: WidgetsModule });
  });
  afterAll(() => app.close());

  const ignored = async (path: string, body?: object): Promise<string | undefined> => {
    const agent = app.as(reporter);
    const answer = await (body ? agent.post(path).send(body) : agent.get(path));
    expect(answer.status).toBe(body ? 201 : 200);
    return answer.headers['x-rookery-ignored'] as string | undefined;
  };

  it('is named in a header', async () => {
    expect(await ignored(WIDGETS, { title: 'T', labels: 'a', weight: 3 })).toBe('labels, weight');
    expect(await ignored(`${WIDGETS}?colour=red&labels[]=x`)).toBe('colour');
  });

  it('has no header if all parameters are read', async () => {
    expect(await ignored(WIDGETS, { title: 'T' })).toBeUndefined();
    expect(await ignored(`${WIDGETS}?page=1&per_page=2&order_by=created_at`)).toBeUndefined();
    expect(await ignored(`${WIDGETS}?pagination=keyset&order_by=created_at&id_after=1`)).toBeUndefined();
    expect(await ignored(`${WIDGETS}?private_token=x&access_token=x&job_token=x`)).toBeUndefined();
  });

  it('is a keyset for a list without one, and a page without a list', async () => {
    const asJson = app.as(reporter).get(`${WIDGETS}/as_json?pagination=keyset&page=1`);
    expect((await asJson.expect(200)).headers['x-rookery-ignored']).toBe('pagination');
    expect(await ignored(`${WIDGETS}/1?page=2`)).toBe('page');
  });

  it('is followed by parameters that are read for compatibility only', async () => {
    expect(await ignored(`${WIDGETS}?lfs=true&colour=red`)).toBe('colour, lfs');
  });

  it('is followed by parameters that have an effect for administrators only', async () => {
    expect(await ignored(`${WIDGETS}?hidden=false&colour=red`)).toBe('colour, hidden');
    const admin = app.as(makeViewer({ userId: 1, isAdmin: true }));
    const { headers } = await admin.get(`${WIDGETS}?hidden=true&colour=red`).expect(200);
    expect(headers['x-rookery-ignored']).toBe('colour');
  });

  it('is shown as a star if its name is not plain, and of many only some are shown', async () => {
    expect(await ignored(`${WIDGETS}?a%0d%0aset-cookie=1&%C3%A9=2&${'n'.repeat(65)}=3&ok=4`)).toBe('*, ok');
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]));
    expect((await ignored(WIDGETS, { title: 'T', ...many }))!.split(', ')).toHaveLength(32);
  });

  it('is named in refusals too', async () => {
    const { body, headers } = await app.as(reporter).post(WIDGETS).send({ titel: 'T' }).expect(400);
    expect(body).toEqual({ error: 'title is missing' });
    expect(headers['x-rookery-ignored']).toBe('titel');
  });
});

describe('an unread parameter in a strict estate', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ service: 'package', module: WidgetsModule, env: { ROOKERY_STRICT_PARAMETERS: 'on' } });
  });
  afterAll(() => app.close());

  it('is refused', async () => {
    const answer = await app.as(reporter).post(WIDGETS).send({ title: 'T', labels: 'a', é: 1 }).expect(400);
    expect(answer.body).toEqual({ error: 'labels is not read here, * is not read here' });
    await app.as(reporter).get(WIDGETS).query({ colour: 'red' }).expect(400);
  });

  it('does not affect other requests', async () => {
    await app.as(reporter).post(WIDGETS).send({ title: 'T', open: false }).expect(201);
    await app.as(reporter).get(WIDGETS).query({ per_page: 2 }).expect(200);
    await app
      .as(makeViewer({ userId: 99 }))
      .get('/api/v4/projects/1/widgets')
      .expect(404);
  });
});
