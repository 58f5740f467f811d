import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Controller, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Forbidden } from '@rookery/kernel';
import { PlatformModule } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { aViewer, startTestApp } from '@rookery/testing';
import type { TestApp } from '@rookery/testing';
import {
  anyone,
  ApiV4Module,
  CALLER_SOURCE,
  Endpoint,
  endpointsOf,
  json,
  SCOPE_RESOLVER,
  signedIn,
  streamed,
  streamedBody,
} from '../../src';
import type { Call, FileAnswer, NoParams, ScopeResolver, StreamedCall } from '../../src';
import { endpointProblems } from '../../src/endpoint/endpoint-check';
import { Callers } from '../support/things';

const ANY = json<object>({ type: 'object' });
const common = { about: 'A stream.', source: 'a test' } as const;
let runs = 0;
let changed: () => void = () => undefined;

@Controller()
class StreamsController {
  @Endpoint('PUT', '/taken', {
    ...common,
    may: signedIn(),
    answers: ANY,
    body: streamedBody({ maxBytes: 100, digests: ['md5'] }),
  })
  async take({ body }: StreamedCall): Promise<object> {
    runs += 1;
    await body.toArray();
    changed();
    await body.recheckRights();
    return { size: body.size, md5: body.digest('md5') };
  }

  @Endpoint('PUT', '/refused', { ...common, may: signedIn(), answers: ANY, body: streamedBody({ maxBytes: 100 }) })
  refuse(_call: StreamedCall): object {
    runs += 1;
    throw new Forbidden();
  }

  @Endpoint('GET', '/short', { ...common, may: anyone(), answers: streamed() })
  short(_call: Call<NoParams>): FileAnswer {
    return { stream: () => Readable.from([Buffer.from('abc')]), mediaType: 'application/octet-stream', length: 10 };
  }

  @Endpoint('GET', '/long', { ...common, may: anyone(), answers: streamed() })
  long(_call: Call<NoParams>): FileAnswer {
    return { stream: () => Readable.from([Buffer.from('abc')]), mediaType: 'application/octet-stream', length: 2 };
  }
}

const resolver: ScopeResolver = {
  project: () => Promise.resolve(null),
  group: () => Promise.resolve(null),
  fresh: () => Promise.resolve(),
  newest: ({ directory }) => Promise.resolve({ ...directory, version: 9 }),
};

@Module({
  controllers: [StreamsController],
  providers: [
    { provide: SCOPE_RESOLVER, useValue: resolver },
    { provide: CALLER_SOURCE, useExisting: Callers },
    Callers,
  ],
})
class StreamsModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const platform = PlatformModule.forRoot({ service: 'package', values });
    return { module: StreamsModule, imports: [platform, ApiV4Module.forRoot({ service: 'package' })] };
  }
}

describe('streams', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ service: 'package', module: StreamsModule, env: { REQUEST_RIGHTS_MS: '0' } });
  });
  afterAll(() => app.close());
  beforeEach(() => {
    runs = 0;
    changed = () => undefined;
  });
  const put = (path: string) =>
    app
      .as(aViewer({ userId: 20 }), { unseen: true })
      .put(path)
      .type('application/octet-stream');

  it('are counted and digested', async () => {
    const { body } = await put('/api/v4/taken').send('egg').expect(200);
    expect(body).toEqual({ size: 3, md5: createHash('md5').update('egg').digest('hex') });
  });

  it('take no effect once their sender has lost the right', async () => {
    const callers = app.get(Callers);
    const answer = callers.answer;
    changed = () => (callers.answer = { version: 1, epoch: answer.epoch, outcome: 'revoked' });
    await put('/api/v4/taken').send('egg').expect(401);
    callers.answer = answer;
    expect(runs).toBe(1);
  });

  it('are handed to a handler once, also where newer rights are known', async () => {
    await put('/api/v4/refused').send('egg').expect(403);
    expect(runs).toBe(1);
  });

  it('are refused by their length', async () => {
    await put('/api/v4/taken').send('x'.repeat(101)).expect(413);
    expect(runs).toBe(0);
  });

  it.each(['/api/v4/short', '/api/v4/long'])('are broken off where they have another length: %s', async (path) => {
    const answer = await app
      .as(aViewer({ userId: 20 }), { unseen: true })
      .get(path)
      .catch((error: Error) => error);
    expect(answer).toBeInstanceOf(Error);
  });

  it('are declared where they can be', () => {
    class Wrong {
      get(): object {
        return {};
      }
    }
    const declare = (method: 'GET' | 'POST', path: string, more: object): void =>
      Endpoint(method, path, { ...common, may: anyone(), answers: ANY, ...more })(
        Wrong.prototype,
        'get',
        Object.getOwnPropertyDescriptor(Wrong.prototype, 'get')!,
      );
    declare('GET', '/a', { body: streamedBody({ maxBytes: 1 }) });
    declare('POST', '/b', { body: streamedBody({ maxBytes: 1 }), bodyLimit: 5 });
    declare('POST', '/c', { answers: streamed() });
    const text = endpointProblems(endpointsOf(Wrong)).join('\n');
    expect(text).toMatch(/streams the body of a GET/);
    expect(text).toMatch(/reads a body that it streams/);
    expect(text).toMatch(/has ranges, which are for GET/);
  });
});
