import { Controller, Injectable, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Body, Get, Post } from '@nestjs/common';
import { Conflict, Forbidden, maySee, NotModified, pageOf, Unavailable } from '@rookery/kernel';
import type { Page, Viewer } from '@rookery/kernel';
import { currentWaiter, PlatformModule } from '@rookery/platform';
import type { ConfirmCallerAnswer, ConfirmCallerRequest } from '@rookery/contracts';
import { SEED_EPOCH } from '@rookery/testing';
import type { SettingsValues } from '@rookery/platform';
import {
  ability,
  accepted,
  administrator,
  anyone,
  ApiV4Module,
  atLeast,
  checkUnmodifiedSince,
  created,
  Endpoint,
  file,
  Flag,
  Hash,
  instant,
  int,
  Int,
  InternalRoute,
  json,
  JsonText,
  keysetPage,
  list,
  ListOf,
  noContent,
  nullable,
  one,
  withAlternative,
  AlternativeAnswer,
  page,
  presenter,
  project,
  redirect,
  SCOPE_RESOLVER,
  signedIn,
  Text,
  text,
  bool,
  CALLER_SOURCE,
  Upload,
} from '../../src';
import type {
  Call,
  CallerSource,
  FileAnswer,
  InternalRequest,
  JsonPage,
  KeysetPage,
  NoParams,
  ProjectScope,
  ScopeResolver,
  UploadedFile,
} from '../../src';

export interface Widget {
  readonly id: number;
  readonly projectId: number;
  readonly title: string;
  readonly open: boolean;
  readonly tags: readonly string[];
  readonly attributes: Readonly<Record<string, string | null>>;
  readonly createdAt: Date;
}

/** Access levels in every project by user id. Project 1 is private, 2 internal, 3 public. */
export const LEVELS: Readonly<Record<number, number>> = { 10: 10, 15: 15, 20: 20, 30: 30, 40: 40, 50: 50 };
const VISIBILITY = { 1: 'private', 2: 'internal', 3: 'public' } as const;

/** State of identity that is newer than the viewer's version; tests set it. */
export const newer: { version: number | null; learn: () => void; asked: number } = {
  version: null,
  learn: () => undefined,
  asked: 0,
};
function lookUpNewestPosition({ directory }: Viewer): Promise<Viewer['directory'] | null> {
  newer.asked += 1;
  if (newer.version === null) return Promise.resolve(null);
  newer.learn();
  return Promise.resolve({ ...directory, version: newer.version });
}

/** Project 1 was `group/former`; `group/gone` was a project that does not exist any more. */
const resolver: ScopeResolver = {
  formerProject: (path, viewer) => resolver.findProject(path === 'group/former' ? 1 : 0, viewer),
  findProject: (ref, viewer: Viewer) => {
    const id = ref === 'group/secret' ? 1 : ref;
    if (id !== 1 && id !== 2 && id !== 3) return Promise.resolve(null);
    const level = LEVELS[viewer.userId ?? 0] ?? 0;
    const visible = maySee(viewer, VISIBILITY[id], level);
    return Promise.resolve(visible ? ({ kind: 'project', id, level } as ProjectScope) : null);
  },
  findGroup: () => Promise.resolve(null),
  requireFresh: () => Promise.resolve(),
  newestPosition: (viewer: Viewer) => lookUpNewestPosition(viewer),
};

const widget = presenter<Widget>('Widget').fields({
  id: [int, (row) => row.id],
  title: [text, (row) => row.title],
  open: [bool, (row) => row.open],
  tags: [list(text), (row) => row.tags],
  color: [nullable(text), (row) => row.attributes['color']],
  created_at: [instant, (row) => row.createdAt],
});

/** A widget as a database would build it, with its fields in another order than the presenter's. */
export const builtWidget = (id: number): string =>
  `{"title":"Built","id":${id},"open":true,"tags":[],"color":null,"created_at":"2026-01-02T03:04:05.006Z"}`;

class ListWidgets {
  @Text({ default: 'created_at' }) order_by: string;
  @ListOf('text', { optional: true }) labels?: string[];
  @Flag({ default: false, hasNoEffect: true }) lfs: boolean;
  @Flag({ default: false, forAdministrators: true }) hidden: boolean;
}
class OneWidget {
  @Int() widget_id: number;
}
class CreateWidget {
  @Text({ max: 200, blank: 'refused' }) title: string;
  @Flag({ default: true }) open: boolean;
  @ListOf('text', { default: [] }) tags: string[];
  @Hash({ default: {} }) attributes: Record<string, string | null>;
  @Int({ optional: true, nullable: true }) parent_id?: number | null;
}
class Picture {
  @Upload() avatar: UploadedFile;
  @Text({ optional: true }) title?: string;
}
class Face {
  @Upload({ optional: true, nullable: true, alias: 'file' }) avatar?: UploadedFile | null;
}

const at = new Date('2026-01-05T09:00:00.500Z');
export const rows: Widget[] = Array.from({ length: 7 }, (_, index) => ({
  id: index + 1,
  projectId: 3,
  title: `Widget ${index + 1}`,
  open: true,
  tags: [],
  attributes: {},
  createdAt: at,
}));

const common = { source: 'a test', within: project() } as const;

@Controller('projects/:id/widgets')
export class WidgetsController {
  private readonly all = [...rows];

  @Endpoint('GET', '', {
    ...common,
    about: 'Lists widgets.',
    may: anyone(),
    params: ListWidgets,
    answers: page(widget, { keyset: { orderBy: ['created_at'], offsetCapFor: 'Widget' } }),
    aliases: ['/projects/:id/items'],
  })
  list({ page: asked, keyset }: Call<ListWidgets, ProjectScope>): Page<Widget> | KeysetPage<Widget> {
    if (keyset) {
      const after = rows.filter((row) => row.id > (keyset.idAfter ?? 0));
      return keysetPage(keyset.perPage, after.slice(0, keyset.perPage + 1), (last) => ({ id_after: last.id }));
    }
    const from = (asked.page - 1) * asked.perPage;
    return pageOf(asked, rows.slice(from, from + asked.perPage + 1), rows.length);
  }

  @Endpoint('GET', 'as_json', { ...common, about: 'Lists built text.', may: anyone(), answers: page(widget) })
  asJson(): JsonPage {
    return { json: `[${builtWidget(1)}]`, total: 1, hasNext: false };
  }

  @Endpoint('GET', ':widget_id', {
    ...common,
    about: 'One widget.',
    may: ability('widget.read', (call: Call<OneWidget, ProjectScope>) => call.params.widget_id !== 6),
    params: OneWidget,
    answers: one(widget),
    fails: [304, 409],
  })
  read({ params }: Call<OneWidget, ProjectScope>): Widget | JsonText {
    if (params.widget_id === 3) throw new Error('a secret detail');
    if (params.widget_id === 4) throw new Conflict();
    if (params.widget_id === 5) throw new NotModified();
    return params.widget_id === 2 ? new JsonText(builtWidget(2)) : rows[0]!;
  }

  @Endpoint('POST', '', {
    ...common,
    about: 'Adds a widget.',
    may: atLeast('reporter'),
    params: CreateWidget,
    answers: created(widget),
  })
  create({ params, within }: Call<CreateWidget, ProjectScope>): Widget {
    if (params.title === 'lost after its commit') {
      currentWaiter()?.rights?.recordCommit();
      throw new Unavailable('database away');
    }
    const made = { id: this.all.length + 1, projectId: within.id, createdAt: at, ...params };
    this.all.push(made);
    return made;
  }

  @Endpoint('DELETE', ':widget_id', {
    ...common,
    about: 'Removes a widget.',
    may: signedIn(),
    params: OneWidget,
    answers: noContent(),
    fails: [412],
  })
  remove(call: Call<OneWidget, ProjectScope>): void {
    checkUnmodifiedSince(call, at);
  }

  @Endpoint('PUT', 'picture', {
    ...common,
    about: 'Takes a picture.',
    may: atLeast('guest'),
    params: Picture,
    answers: json({ type: 'object' }),
    bodyLimit: 2048,
    deadlineMs: 60_000,
  })
  picture({ params }: Call<Picture, ProjectScope>): object {
    const { avatar, title } = params;
    return { filename: avatar.filename, size: avatar.bytes.length, title };
  }

  @Endpoint('PUT', 'face', {
    ...common,
    about: 'Takes a picture, or takes it away.',
    may: atLeast('guest'),
    params: Face,
    answers: json({ type: 'object' }),
  })
  face({ params }: Call<Face, ProjectScope>): object {
    const { avatar } = params;
    return { avatar: avatar ? avatar.bytes.toString() : avatar === null ? 'removed' : 'left' };
  }
}

@Controller()
export class OddsController {
  @Endpoint('GET', '/status', { about: 'Unlisted status.', source: 'a test', may: anyone(), answers: noContent() })
  unlisted(): void {
    throw new Conflict();
  }

  @Endpoint('POST', '/admin_only', {
    about: 'For administrators.',
    source: 'a test',
    may: administrator(),
    params: CreateWidget,
    answers: accepted(),
    tokenScopes: ['admin_mode'],
  })
  adminOnly(_call: Call<CreateWidget>): void {}

  @Endpoint('POST', '/either', {
    about: 'Makes something, or says that there is nothing to be made.',
    source: 'a test',
    may: signedIn(),
    params: CreateWidget,
    answers: withAlternative(json({ type: 'object' }, { status: 201 }), 202, {
      type: 'object',
      properties: { why: {} },
    }),
  })
  either({ params }: Call<CreateWidget>): object {
    return params.title === 'nothing' ? new AlternativeAnswer({ why: 'é' }) : { title: params.title };
  }

  @Endpoint('POST', '/odd', {
    about: 'Refuses in its own way.',
    source: 'a test',
    may: ability('odd', () => false, { signedIn: true }),
    answers: noContent(),
    refusals: { forbiddenAs: () => new Forbidden('odd') },
  })
  odd(_call: Call<NoParams, undefined, Viewer & { userId: number; username: string }>): void {}

  @Endpoint('GET', '//-/bytes', { about: 'Bytes.', source: 'a test', may: anyone(), answers: file('text/plain') })
  bytes(): { stream: Buffer; mediaType: string; filename: string } {
    return { stream: Buffer.from('héllo'), mediaType: 'text/plain', filename: 'ä.txt' };
  }

  @Endpoint('GET', '//-/charset', {
    about: 'JSON.',
    source: 'a test',
    may: anyone(),
    answers: file('application/json'),
  })
  charset(): { stream: Buffer; mediaType: string; filename: string } {
    return { stream: Buffer.from('{}'), mediaType: 'application/json; charset=utf-8', filename: 'a.json' };
  }

  @Endpoint('GET', '//-/picture', {
    about: 'A picture.',
    source: 'a test',
    may: anyone(),
    answers: file('image/*'),
    fails: [304],
  })
  image(call: Call): FileAnswer {
    const isPublic = call.viewer.userId === null;
    const stream = call.knownVersions.has('v1') ? null : Buffer.from('png');
    return { stream, mediaType: 'image/png', filename: 'ä.png', isInline: true, version: 'v1', isPublic };
  }

  @Endpoint('GET', '//elsewhere', { about: 'Elsewhere.', source: 'a test', may: anyone(), answers: redirect() })
  elsewhere(): string {
    return 'http://host/there';
  }

  @InternalRoute('POST', '/internal/echo', ['identity'])
  echo({ body, query }: InternalRequest): object {
    return { body, query };
  }
}

@Controller('internal/plain')
export class PlainController {
  @Get()
  read(): object {
    return { plain: true };
  }
  @Post()
  write(@Body() body: object): object {
    return body;
  }
}

/** Identity's answers about callers; tests set them. */
@Injectable()
export class Callers implements CallerSource {
  answer: ConfirmCallerAnswer = { version: 0, epoch: SEED_EPOCH, outcome: 'holds' };
  readonly asked: ConfirmCallerRequest[] = [];

  confirm(question: ConfirmCallerRequest): Promise<ConfirmCallerAnswer> {
    this.asked.push(question);
    return Promise.resolve(this.answer);
  }
}

@Module({
  controllers: [WidgetsController, OddsController, PlainController],
  providers: [
    { provide: SCOPE_RESOLVER, useValue: resolver },
    { provide: CALLER_SOURCE, useExisting: Callers },
    Callers,
  ],
})
export class WidgetsModule {
  static forRoot(values: SettingsValues): DynamicModule {
    return {
      module: WidgetsModule,
      imports: [PlatformModule.forRoot({ service: 'package', values }), ApiV4Module.forRoot({ service: 'package' })],
    };
  }
}
