import type { ConfirmCallerAnswer } from '@rookery/contracts';
import { anonymousViewer, makeViewer, SEED_EPOCH, startTestApp } from '@rookery/testing';
import type { TestApp } from '@rookery/testing';
import { Callers, LEVELS, newer, WidgetsModule } from '../support/widgets';

const at = { version: 7, epoch: SEED_EPOCH };
const TITLE = { title: 'x' };

let app: TestApp;
let callers: Callers;
const startApp = async (freshMs: string): Promise<void> => {
  app = await startTestApp({ service: 'package', module: WidgetsModule, env: { REQUEST_RIGHTS_MS: freshMs } });
  callers = app.get(Callers);
};
afterEach(() => app.close());

const readWidget = (viewer = makeViewer({ userId: 20 })) =>
  app.as(viewer, { isUncounted: true }).get('/api/v4/projects/1/widgets/1');
const createWidget = (viewer = makeViewer({ userId: 20 })) =>
  app.as(viewer, { isUncounted: true }).post('/api/v4/projects/1/widgets').send(TITLE);

describe('a request that exceeds the recheck interval', () => {
  beforeEach(() => startApp('0'));

  it('is executed if the claims of its context still hold', async () => {
    await readWidget().expect(200);
    await createWidget(makeViewer({ userId: 20, tokenId: 70, scopes: ['api'], impersonatorId: 5 })).expect(201);
    expect(callers.asked.at(-1)).toEqual({
      user_id: 20,
      token_id: 70,
      admin: false,
      external: false,
      bot: false,
      scopes: ['api'],
      impersonator_id: 5,
    });
  });

  it.each<[ConfirmCallerAnswer, number, object]>([
    [{ ...at, outcome: 'unknown' }, 401, { message: '401 Unauthorized' }],
    [{ ...at, outcome: 'changed' }, 503, { message: '503 Service Unavailable' }],
    [
      { ...at, outcome: 'revoked' },
      401,
      { error: 'invalid_token', error_description: 'Token was revoked. You have to re-authorize from the user.' },
    ],
    [
      { ...at, outcome: 'expired' },
      401,
      {
        error: 'invalid_token',
        error_description: 'Token is expired. You can either do re-authorization or token refresh.',
      },
    ],
    [
      { ...at, outcome: 'user_refused', reason: 'Your account has been blocked' },
      403,
      { message: '403 Forbidden - Your account has been blocked' },
    ],
    [{ version: 7, epoch: 'another', outcome: 'holds' }, 503, { message: '503 Service Unavailable' }],
  ])('changes nothing when identity answers %j', async (answer, status, body) => {
    callers.answer = answer;
    for (const request of [readWidget(), createWidget()]) {
      const refused = await request;
      expect([refused.status, refused.body]).toEqual([status, body]);
    }
  });

  it('is refused with 503 when identity cannot be asked', async () => {
    callers.confirm = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
    await readWidget().expect(503);
  });

  it('is not rechecked with identity for an anonymous caller', async () => {
    await app.as(anonymousViewer()).get('/api/v4/projects/3/widgets/1').expect(200);
    expect(callers.asked).toEqual([]);
  });

  it.each([
    ['is removed', 0, 404],
    ['has another level', 15, 503],
  ])('is authorized again: the membership %s', async (_, level, status) => {
    const was = LEVELS[20]!;
    callers.confirm = () => {
      Object.assign(LEVELS, { 20: level });
      return Promise.resolve({ ...at, outcome: 'holds' });
    };
    try {
      await readWidget().expect(status);
    } finally {
      Object.assign(LEVELS, { 20: was });
    }
  });
});

it('a request within the recheck interval is not rechecked', async () => {
  await startApp('60000');
  callers.answer = { ...at, outcome: 'revoked' };
  await readWidget().expect(200);
  await createWidget().expect(201);
  expect(callers.asked).toEqual([]);
});

it('a write that fails after its commit is answered 502 without Retry-After', async () => {
  await startApp('60000');
  const lost = { title: 'lost after its commit' };
  const answer = await app
    .as(makeViewer({ userId: 20 }))
    .post('/api/v4/projects/1/widgets')
    .send(lost);
  expect([answer.status, answer.body, answer.headers['retry-after']]).toEqual([
    502,
    { message: '502 Bad Gateway' },
    undefined,
  ]);
});

describe('a request that is refused at the directory version of the gateway', () => {
  const known = { ...LEVELS };
  beforeEach(async () => {
    Object.assign(newer, { version: null, learn: () => undefined, asked: 0 });
    await startApp('60000');
  });
  afterEach(() => {
    for (const id of Object.keys(LEVELS)) delete (LEVELS as Record<string, number>)[id];
    Object.assign(LEVELS, known);
  });
  const learning = (id: number, level: number): void =>
    void Object.assign(newer, { version: 8, learn: () => Object.assign(LEVELS, { [id]: level }) });

  it.each([
    ['a new membership', 77],
    ['a higher access level', 10],
  ])('is authorized again at the version of identity: %s', async (_, id) => {
    learning(id, 20);
    await createWidget(makeViewer({ userId: id })).expect(201);
    await readWidget(makeViewer({ userId: id })).expect(200);
    expect(newer.asked).toBe(1);
  });

  it('stays refused if identity has no newer version, or refuses at that version too', async () => {
    await readWidget(makeViewer({ userId: 77 })).expect(404);
    await createWidget(makeViewer({ userId: 10 })).expect(403);
    await app.as(anonymousViewer()).get('/api/v4/projects/1/widgets/1').expect(404);
    Object.assign(newer, { version: 8 });
    await readWidget(makeViewer({ userId: 77 })).expect(404);
    await createWidget(makeViewer({ userId: 10 })).expect(403);
    expect(newer.asked).toBe(5);
  });

  it('is not authorized again after any other refusal', async () => {
    await app
      .as(makeViewer({ userId: 20 }))
      .post('/api/v4/projects/1/widgets')
      .expect(400);
    await app
      .as(makeViewer({ userId: 20, scopes: ['read_user'] }))
      .get('/api/v4/projects/1/widgets')
      .expect(403);
    await app
      .as(makeViewer({ userId: 20 }))
      .get('/api/v4/projects/1/widgets/4')
      .expect(409);
    expect(newer.asked).toBe(0);
  });
});
