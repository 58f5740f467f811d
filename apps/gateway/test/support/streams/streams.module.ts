import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import {
  anyone,
  ApiV4Module,
  atLeast,
  CALLER_SOURCE,
  Endpoint,
  Flag,
  Int,
  json,
  project,
  SCOPE_RESOLVER,
  streamedFile,
  streamedBody,
  Text,
} from '@rookery/api-v4';
import type { Call, CallerSource, FileAnswer, ProjectScope, ScopeResolver, StreamedCall } from '@rookery/api-v4';
import { PlatformModule } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';

export const MIB = 1024 * 1024;
export const LARGEST = 2 * 1024 * MIB;
const PIECE = Buffer.alloc(64 * 1024, 'rookery ');

/** Counters of the service, for the test that started it. */
export const seen = { opened: 0, produced: 0, consumed: 0, failures: [] as string[] };
/** Handlers with `waits` continue after this resolves. */
export const gate = { open: (): void => undefined, opened: Promise.resolve() };

class OneBlob {
  @Text() path: string;
  /** An upload waits for the gate before it reads, a download after its first chunk. */
  @Flag({ default: false }) waits: boolean;
}
class ReadBlob extends OneBlob {
  @Int({ default: MIB, max: LARGEST }) bytes: number;
}
class OneRepository {
  @Text({ in: 'path' }) full_path: string;
}

const common = { source: 'a test', within: project() } as const;
const ofRepository = { source: 'a test', within: project('full_path') } as const;
const ANY = json<object>({ type: 'object' });

@Controller()
export class StreamsController {
  @Endpoint('PUT', '/projects/:id/packages/blobs/*path', {
    ...common,
    about: 'Takes bytes.',
    may: atLeast('developer'),
    params: OneBlob,
    body: streamedBody({ maxBytes: LARGEST }),
    answers: ANY,
  })
  async take({ body, params }: StreamedCall<OneBlob, ProjectScope>): Promise<object> {
    if (params.waits) await gate.opened;
    const sink = new Writable({
      write(chunk: Buffer, _, done) {
        seen.consumed += chunk.length;
        done();
      },
    });
    try {
      await pipeline(body, sink);
      await body.recheckRights();
    } catch (error) {
      seen.failures.push((error as Error).constructor.name);
      throw error;
    }
    return { path: params.path, size: body.size, sha256: body.digest() };
  }

  @Endpoint('PUT', '/projects/:id/packages/small/*path', {
    ...common,
    about: 'Takes few bytes.',
    may: atLeast('developer'),
    params: OneBlob,
    body: streamedBody({ maxBytes: MIB, types: ['application/octet-stream'] }),
    refusals: { hasReasonPhrase: true },
    answers: ANY,
  })
  takeSmall(call: StreamedCall<OneBlob, ProjectScope>): Promise<object> {
    return this.take(call);
  }

  @Endpoint('GET', '/projects/:id/packages/blobs/*path', {
    ...common,
    about: 'Bytes.',
    may: anyone(),
    params: ReadBlob,
    answers: streamedFile(),
  })
  give({ params }: Call<ReadBlob, ProjectScope>): FileAnswer {
    const filename = params.path.slice(params.path.lastIndexOf('/') + 1);
    return {
      stream: (range) => produceBytes(range?.start ?? 0, (range?.end ?? params.bytes - 1) + 1, params.waits),
      mediaType: 'application/octet-stream',
      length: params.bytes,
      filename,
      version: `v${params.bytes}`,
      lastModified: new Date('2026-01-02T03:04:05.678Z'),
    };
  }

  @Endpoint('GET', '//*full_path.git/info/refs', {
    ...ofRepository,
    about: 'Refs of a repository.',
    may: anyone(),
    params: OneRepository,
    answers: ANY,
    aliases: ['//*full_path/info/refs'],
  })
  refs({ params, within }: Call<OneRepository, ProjectScope>): object {
    return { full_path: params.full_path, id: within.id };
  }

  @Endpoint('POST', '//*full_path.git/git-upload-pack', {
    ...ofRepository,
    about: 'A pack.',
    may: anyone(),
    params: OneRepository,
    body: streamedBody({ maxBytes: MIB, inflates: true, types: ['application/x-git-upload-pack-request'] }),
    answers: ANY,
  })
  async pack({ params, body }: StreamedCall<OneRepository, ProjectScope>): Promise<object> {
    await pipeline(body, new Writable({ write: (_chunk, _encoding, done) => done() }));
    return { full_path: params.full_path, size: body.size };
  }

  @Endpoint('GET', '/projects/:id/packages/plain', {
    ...common,
    about: 'An ordinary route.',
    may: anyone(),
    answers: ANY,
  })
  plain(): object {
    return { plain: true };
  }
}

function produceBytes(start: number, end: number, waits: boolean): Readable {
  seen.opened += 1;
  let at = start;
  let isFirst = true;
  const source = new Readable({
    read() {
      const give = (): void => {
        const next = PIECE.subarray(at % PIECE.length, Math.min(PIECE.length, (at % PIECE.length) + end - at));
        at += next.length;
        seen.produced += next.length;
        this.push(next.length === 0 ? null : next);
      };
      if (waits && !isFirst) void gate.opened.then(give);
      else give();
      isFirst = false;
    },
  });
  source.once('close', () => source.readableEnded || seen.failures.push('not read to its end'));
  return source;
}

/** Project 1 is public and has two paths; project 2 is private. */
const resolver: ScopeResolver = {
  findProject: (ref, viewer) => {
    const id = ref === 'group/sub/project' || ref === 'a/b' ? 1 : ref;
    const isKnown = id === 1 || (id === 2 && viewer.userId !== null);
    // The caller with the id 8 is a guest.
    const level = viewer.userId === null ? 0 : viewer.userId === 8 ? 10 : 30;
    return Promise.resolve(isKnown ? ({ kind: 'project', id, level } as ProjectScope) : null);
  },
  findGroup: () => Promise.resolve(null),
  requireFresh: () => Promise.resolve(),
};
const callers: CallerSource = { confirm: () => Promise.resolve({ version: 100, epoch: 'e1', outcome: 'holds' }) };

@Module({
  controllers: [StreamsController],
  providers: [
    { provide: SCOPE_RESOLVER, useValue: resolver },
    { provide: CALLER_SOURCE, useValue: callers },
  ],
})
export class StreamsModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const platform = PlatformModule.forRoot({ service: 'package', values });
    return { module: StreamsModule, imports: [platform, ApiV4Module.forRoot({ service: 'package' })] };
  }
}
