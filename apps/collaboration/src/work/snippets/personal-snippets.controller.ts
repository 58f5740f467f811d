import { Controller } from '@nestjs/common';
import {
  ability,
  administrator,
  anyone,
  checkUnmodifiedSince,
  created,
  Endpoint,
  JsonText,
  noContent,
  one,
  page,
  signedIn,
} from '@rookery/api-v4';
import type { Call, FileAnswer, JsonPage } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { userAgentDetail } from '../../base/noteables/user-agent-detail.presenter';
import type { UserAgentDetail } from '../../base/noteables/user-agent-detail';
import { snippetPolicy } from './snippet.policy';
import { toRawFile, rawText } from './snippet.presenter';
import { snippetShape } from './snippet.shape';
import {
  CreateSnippet,
  ListSnippets,
  IdentifySnippet,
  IdentifySnippetFile,
  SNIPPET_BODY_LIMIT,
  UpdateSnippet,
} from './snippets.dto';
import { SnippetsEverywhereQueries } from './snippets-everywhere.queries';
import { SnippetsQueries } from './snippets.queries';
import type { SnippetKey } from './snippets.queries';
import { SnippetsService } from './snippets.service';

const snippet = snippetShape.presenter;
const source = 'reference work-tracking 9.2';

type ReadCall<P, V extends Viewer = Viewer> = Call<P, undefined, V>;
type WriteCall<P> = ReadCall<P, SignedInViewer>;
const toSnippetKey = ({ params }: ReadCall<IdentifySnippet>): SnippetKey => ({ place: null, id: params.id });

/** Routes of personal snippets, which belong to no project. */
@Controller('snippets')
export class PersonalSnippetsController {
  constructor(
    private readonly queries: SnippetsQueries,
    private readonly everywhere: SnippetsEverywhereQueries,
    private readonly snippets: SnippetsService,
  ) {}

  @Endpoint('GET', '', {
    source,
    about: 'Lists the personal snippets of the caller, newest first.',
    may: signedIn(),
    params: ListSnippets,
    answers: page(snippet),
  })
  list({ params, viewer, page: asked }: WriteCall<ListSnippets>): Promise<JsonPage> {
    return this.queries.list(viewer, 'own', params, asked);
  }

  @Endpoint('GET', 'public', {
    source,
    about: 'Lists the public personal snippets of all users, newest first.',
    may: signedIn(),
    params: ListSnippets,
    answers: page(snippet),
  })
  listPublic({ params, viewer, page: asked }: WriteCall<ListSnippets>): Promise<JsonPage> {
    return this.queries.list(viewer, 'public', params, asked);
  }

  @Endpoint('GET', 'all', {
    source,
    about: 'Lists all snippets that the caller sees, in projects and personal ones, newest first.',
    may: signedIn(),
    params: ListSnippets,
    answers: page(snippet),
  })
  listAll({ params, viewer, page: asked }: WriteCall<ListSnippets>): Promise<JsonPage> {
    return this.everywhere.list(viewer, params, asked);
  }

  @Endpoint('GET', ':id', {
    source,
    about: 'Shows one personal snippet.',
    may: anyone(),
    params: IdentifySnippet,
    answers: one(snippet),
    fails: [404],
  })
  async show(call: ReadCall<IdentifySnippet>): Promise<JsonText> {
    return new JsonText(await this.queries.findSnippet(call.viewer, toSnippetKey(call)));
  }

  @Endpoint('POST', '', {
    source,
    about: 'Adds a personal snippet of the caller.',
    may: ability(
      'snippet.create_personal',
      ({ viewer }: WriteCall<object>) => snippetPolicy.mayCreatePersonal(viewer),
      {
        signedIn: true,
      },
    ),
    params: CreateSnippet,
    answers: created(snippet),
    bodyLimit: SNIPPET_BODY_LIMIT,
  })
  async create({ params, viewer }: WriteCall<CreateSnippet>): Promise<JsonText> {
    return new JsonText(await this.snippets.create(viewer, null, params));
  }

  @Endpoint('PUT', ':id', {
    source,
    about: 'Changes a personal snippet, or its files.',
    may: signedIn(),
    params: UpdateSnippet,
    answers: one(snippet),
    fails: [403, 404],
    bodyLimit: SNIPPET_BODY_LIMIT,
  })
  async update(call: WriteCall<UpdateSnippet>): Promise<JsonText> {
    const { id: _, ...changes } = call.params;
    return new JsonText(await this.snippets.update(call.viewer, toSnippetKey(call), changes));
  }

  @Endpoint('DELETE', ':id', {
    source,
    about: 'Deletes a personal snippet.',
    may: signedIn(),
    params: IdentifySnippet,
    answers: noContent(),
    fails: [403, 404, 412],
  })
  remove(call: WriteCall<IdentifySnippet>): Promise<void> {
    return this.snippets.remove(call.viewer, toSnippetKey(call), (updatedAt) => checkUnmodifiedSince(call, updatedAt));
  }

  @Endpoint('GET', ':id/raw', {
    source,
    about: 'Returns the content of the first file of a personal snippet.',
    may: anyone(),
    params: IdentifySnippet,
    answers: rawText,
    fails: [404],
  })
  async raw(call: ReadCall<IdentifySnippet>): Promise<FileAnswer> {
    return toRawFile(await this.queries.readContent(call.viewer, toSnippetKey(call)));
  }

  @Endpoint('GET', ':id/files/:ref/:file_path/raw', {
    source,
    about: 'Returns the content of one file of a personal snippet.',
    may: anyone(),
    params: IdentifySnippetFile,
    answers: rawText,
    fails: [404],
  })
  async rawFile(call: ReadCall<IdentifySnippetFile>): Promise<FileAnswer> {
    const { ref, file_path: path } = call.params;
    return toRawFile(await this.queries.readFile(call.viewer, toSnippetKey(call), ref, path));
  }

  @Endpoint('GET', ':id/user_agent_detail', {
    source,
    about: 'Shows the user agent and the IP address that a personal snippet was created with.',
    may: administrator(),
    params: IdentifySnippet,
    answers: one(userAgentDetail),
    fails: [404],
  })
  origin(call: WriteCall<IdentifySnippet>): Promise<UserAgentDetail> {
    return this.queries.findUserAgentDetail(call.viewer, toSnippetKey(call));
  }
}
