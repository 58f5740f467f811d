import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Controller, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { CONTEXT_HEADER } from '@rookery/contracts';
import { Forbidden } from '@rookery/kernel';
import { contextRequestClaim, ContextSigningKeys, PlatformModule } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { makeViewer, signViewerContext, startTestApp } from '@rookery/testing';
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
  streamedFile,
  streamedBody,
  Text,
} from '../../src';
import type { Call, FileAnswer, NoParams, ScopeResolver, StreamedCall } from '../../src';
import { endpointProblems } from '../../src/endpoint/endpoint-check';
import { Callers } from '../support/widgets';

const ANY = json<object>({ type: 'object' });
const common = { about: 'A stream.', source: 'a test' } as const;
class OneFile {
  @Text({ in: 'path' }) path: string;
}
let runs = 0;
let changed: () => void = () => undefined;
let opening: (gone: AbortSignal) => Promise<Readable>;

@Controller()
class StreamsController {
  @Endpoint('PUT', '/taken', {
    ...common,
    may: signedIn(),
    answers: ANY,
    body: streamedBody({ maxBytes: 100, digests: ['md5'] }),
  })
  async takeDigested(call: StreamedCall): Promise<object> {
    return { ...(await this.take(call)), md5: call.body.digest('md5') };
  }

  async take({ body }: StreamedCall): Promise<object> {
    runs += 1;
    await body.toArray();
    changed();
    await body.recheckRights();
    return { size: body.size };
  }

  @Endpoint('PUT', '/zipped', {
    ...common,
    may: signedIn(),
    answers: ANY,
    body: streamedBody({ maxBytes: 1000, inflates: true }),
  })
  unzip(call: StreamedCall): Promise<object> {
    return this.take(call);
  }

  @Endpoint('GET', '/files/*path', { ...common, may: anyone(), params: OneFile, answers: ANY })
  file({ params }: Call<OneFile>): object {
    return { path: params.path };
  }

  @Endpoint('PUT', '/refused', { ...common, may: signedIn(), answers: ANY, body: streamedBody({ maxBytes: 100 }) })
  refuse(_call: StreamedCall): object {
    runs += 1;
    throw new Forbidden();
  }

  @Endpoint('GET', '/short', { ...common, may: anyone(), answers: streamedFile() })
  short(_call: Call<NoParams>): FileAnswer {
    return { stream: () => Readable.from([Buffer.from('abc')]), mediaType: 'application/octet-stream', length: 10 };
  }

  @Endpoint('GET', '/waiting', { ...common, may: signedIn(), answers: streamedFile() })
  wait(_call: Call<NoParams>): FileAnswer {
    return { stream: (_range, gone) => opening(gone), mediaType: 'application/octet-stream' };
  }

  @Endpoint('GET', '/long', { ...common, may: anyone(), answers: streamedFile() })
  long(_call: Call<NoParams>): FileAnswer {
    return { stream: () => Readable.from([Buffer.from('abc')]), mediaType: 'application/octet-stream', length: 2 };
  }
}

const resolver: ScopeResolver = {
  findProject: () => Promise.resolve(null),
  findGroup: () => Promise.resolve(null),
  requireFresh: () => Promise.resolve(),
  newestPosition: ({ directory }) => Promise.resolve({ ...directory, version: 9 }),
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
      .as(makeViewer({ userId: 20 }), { isUncounted: true })
      .put(path)
      .type('application/octet-stream');

  it('are counted and digested', async () => {
    const { body } = await put('/api/v4/taken').send('egg').expect(200);
    expect(body).toEqual({ size: 3, md5: createHash('md5').update('egg').digest('hex') });
  });

  it('have no effect if the caller loses the permission meanwhile', async () => {
    const callers = app.get(Callers);
    const answer = callers.answer;
    changed = () => (callers.answer = { version: 1, epoch: answer.epoch, outcome: 'revoked' });
    await put('/api/v4/taken').send('egg').expect(401);
    callers.answer = answer;
    expect(runs).toBe(1);
  });

  it('are passed to a handler once, even if identity has a newer directory version', async () => {
    await put('/api/v4/refused').send('egg').expect(403);
    expect(runs).toBe(1);
  });

  it('are refused if they are too long', async () => {
    await put('/api/v4/taken').send('x'.repeat(101)).expect(413);
    expect(runs).toBe(0);
  });

  it.each([
    ['alone', [], 200],
    ['of several members', [gzipSync('egg')], 200],
    ['with zeros behind', [Buffer.alloc(3)], 400],
    ['with zeros and a second member behind', [Buffer.alloc(3), gzipSync('egg')], 400],
    ['with anything else behind', [Buffer.from('rest')], 400],
  ])('are inflated to their end, and nothing may follow it: %s', async (_, rest, status) => {
    const sent = Buffer.concat([gzipSync('egg'), ...rest]);
    const { body } = await put('/api/v4/zipped').set('content-encoding', 'gzip').send(sent).expect(status);
    if (status === 200) expect(body).toEqual({ size: 3 + 3 * rest.length });
  });

  it.each([
    ['a/b', 200],
    ['a%2Fb', 200],
    ['%2Fetc%2Fpasswd', 404],
    ['a%2F%2Fb', 404],
    ['a/%2Fb', 404],
    ['a%2F', 404],
    ['%2F', 404],
    ['a%2F..%2Fb', 404],
  ])('at wildcards have no empty names or dot segments: %s is %i', async (path, status) => {
    await app
      .as(makeViewer({ userId: 20 }), { isUncounted: true })
      .get(`/api/v4/files/${path}`)
      .expect(status);
  });

  it.each(['/api/v4/short', '/api/v4/long'])(
    'are aborted if their length differs from the stated one: %s',
    async (path) => {
      const answer = await app
        .as(makeViewer({ userId: 20 }), { isUncounted: true })
        .get(path)
        .catch((error: Error) => error);
      expect(answer).toBeInstanceOf(Error);
    },
  );

  it('are rechecked once they are open, because that may take long', async () => {
    const callers = app.get(Callers);
    const answer = callers.answer;
    const bytes = Readable.from([Buffer.from('hidden')]);
    opening = () => {
      callers.answer = { version: 1, epoch: answer.epoch, outcome: 'revoked' };
      return Promise.resolve(bytes);
    };
    const { text, status } = await app.as(makeViewer({ userId: 20 }), { isUncounted: true }).get('/api/v4/waiting');
    callers.answer = answer;
    expect([status, bytes.destroyed]).toEqual([401, true]);
    expect(text).not.toContain('hidden');
  });

  it('are not waited for after the client has left', async () => {
    const ended = new Promise((resolve) => {
      opening = (gone) =>
        new Promise((_, reject) => {
          gone.addEventListener('abort', () => {
            reject(gone.reason as Error);
            resolve('ended');
          });
          void asked.abort();
        });
    });
    const asked = app.as(makeViewer({ userId: 20 }), { isUncounted: true }).get('/api/v4/waiting');
    asked.catch(() => undefined);
    const timer = AbortSignal.timeout(5000);
    const late = new Promise((resolve) => timer.addEventListener('abort', () => resolve('late')));
    await expect(Promise.race([ended, late])).resolves.toBe('ended');
  });

  it('leave no error in the log if the client leaves during the transfer', async () => {
    const before = app.logs.length;
    const closed = new Promise<Readable>((resolve) => {
      opening = () => {
        const bytes = new Readable({ read: () => setImmediate(() => bytes.push(Buffer.alloc(65_536))) });
        return Promise.resolve(bytes.once('close', () => resolve(bytes)));
      };
    });
    const path = '/api/v4/waiting';
    const signer = { service: 'package', keys: app.get(ContextSigningKeys) } as const;
    const context = signViewerContext(signer, makeViewer({ userId: 20 }), contextRequestClaim('GET', path));
    const asked = get(`${app.baseUrl}${path}`, { headers: { [CONTEXT_HEADER]: context } }, (response) =>
      response.on('error', () => undefined).once('data', () => asked.destroy()),
    );
    await closed;
    await app
      .as(makeViewer({ userId: 20 }))
      .get('/api/v4/files/a')
      .expect(200);
    expect(app.logs.slice(before).filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('cannot be declared for a GET, with a body limit, or with ranges of a write', () => {
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
    declare('POST', '/c', { answers: streamedFile() });
    const text = endpointProblems(endpointsOf(Wrong)).join('\n');
    expect(text).toMatch(/streams the body of a GET/);
    expect(text).toMatch(/reads a body that it streams/);
    expect(text).toMatch(/has ranges, which are for GET/);
  });
});
