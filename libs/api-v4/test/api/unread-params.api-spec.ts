import { aViewer, startTestApp } from '@rookery/testing';
import type { TestApp } from '@rookery/testing';
import { ThingsModule } from '../support/things';

const THINGS = '/api/v4/projects/3/things';
const reporter = aViewer({ userId: 20 });

describe('what a request sent and nothing reads', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ service: 'package', module: ThingsModule });
  });
  afterAll(() => app.close());

  const ignored = async (path: string, body?: object): Promise<string | undefined> => {
    const agent = app.as(reporter);
    const answer = await (body ? agent.post(path).send(body) : agent.get(path));
    expect(answer.status).toBe(body ? 201 : 200);
    return answer.headers['x-rookery-ignored'] as string | undefined;
  };

  it('is named in a header', async () => {
    expect(await ignored(THINGS, { title: 'T', labels: 'a', weight: 3 })).toBe('labels, weight');
    expect(await ignored(`${THINGS}?colour=red&labels[]=x`)).toBe('colour');
  });

  it('has no header where there is nothing of it', async () => {
    expect(await ignored(THINGS, { title: 'T' })).toBeUndefined();
    expect(await ignored(`${THINGS}?page=1&per_page=2&order_by=created_at`)).toBeUndefined();
    expect(await ignored(`${THINGS}?pagination=keyset&order_by=created_at&id_after=1`)).toBeUndefined();
    expect(await ignored(`${THINGS}?private_token=x&access_token=x&job_token=x`)).toBeUndefined();
  });

  it('names a keyset where the list has none, and pages where there is no list', async () => {
    const asJson = app.as(reporter).get(`${THINGS}/as_json?pagination=keyset&page=1`);
    expect((await asJson.expect(200)).headers['x-rookery-ignored']).toBe('pagination');
    expect(await ignored(`${THINGS}/1?page=2`)).toBe('page');
  });

  it('tells names that are no plain words as a star, and of many only some', async () => {
    expect(await ignored(`${THINGS}?a%0d%0aset-cookie=1&%C3%A9=2&${'n'.repeat(65)}=3&ok=4`)).toBe('*, ok');
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]));
    expect((await ignored(THINGS, { title: 'T', ...many }))!.split(', ')).toHaveLength(32);
  });

  it('is named beside a refusal too', async () => {
    const { body, headers } = await app.as(reporter).post(THINGS).send({ titel: 'T' }).expect(400);
    expect(body).toEqual({ error: 'title is missing' });
    expect(headers['x-rookery-ignored']).toBe('titel');
  });
});

describe('on an estate that is strict', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ service: 'package', module: ThingsModule, env: { ROOKERY_STRICT_PARAMETERS: 'on' } });
  });
  afterAll(() => app.close());

  it('is refused', async () => {
    const answer = await app.as(reporter).post(THINGS).send({ title: 'T', labels: 'a', é: 1 }).expect(400);
    expect(answer.body).toEqual({ error: 'labels is not read here, * is not read here' });
    await app.as(reporter).get(THINGS).query({ colour: 'red' }).expect(400);
  });

  it('leaves everything else as it is', async () => {
    await app.as(reporter).post(THINGS).send({ title: 'T', open: false }).expect(201);
    await app.as(reporter).get(THINGS).query({ per_page: 2 }).expect(200);
    await app
      .as(aViewer({ userId: 99 }))
      .get('/api/v4/projects/1/things')
      .expect(404);
  });
});
