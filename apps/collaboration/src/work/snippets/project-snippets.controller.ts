import { Controller } from '@nestjs/common';
import {
  ability,
  anyone,
  checkUnmodifiedSince,
  created,
  Endpoint,
  JsonText,
  noContent,
  one,
  page,
  project,
  signedIn,
} from '@rookery/api-v4';
import type { Call, FileAnswer, JsonPage, NoParams, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { snippetPolicy } from './snippet.policy';
import { toRawFile, rawText } from './snippet.presenter';
import { snippetShape } from './snippet.shape';
import {
  CreateProjectSnippet,
  IdentifyProjectSnippet,
  IdentifyProjectSnippetFile,
  SNIPPET_BODY_LIMIT,
  UpdateProjectSnippet,
} from './snippets.dto';
import { SnippetsQueries } from './snippets.queries';
import type { SnippetKey } from './snippets.queries';
import { SnippetsService } from './snippets.service';

const snippet = snippetShape.presenter;
const below = { source: 'reference work-tracking 9.2', within: project('id', 'copy') } as const;
const mayCreate = ability(
  'snippet.create',
  ({ viewer, within }: WriteCall<object>) => snippetPolicy.mayCreate(viewer, within),
  { signedIn: true },
);

type ReadCall<P, V extends Viewer = Viewer> = Call<P, ProjectScope, V>;
type WriteCall<P> = ReadCall<P, SignedInViewer>;
const toSnippetKey = ({ params, within }: ReadCall<IdentifyProjectSnippet>): SnippetKey => {
  return { place: within, id: params.snippet_id };
};

/** Routes of the snippets of a project. */
@Controller('projects/:id/snippets')
export class ProjectSnippetsController {
  constructor(
    private readonly queries: SnippetsQueries,
    private readonly snippets: SnippetsService,
  ) {}

  @Endpoint('GET', '', {
    ...below,
    about: 'Lists the snippets of a project, newest first.',
    may: anyone(),
    answers: page(snippet),
  })
  list({ viewer, within, page: asked }: ReadCall<NoParams>): Promise<JsonPage> {
    return this.queries.list(viewer, within, {}, asked);
  }

  @Endpoint('GET', ':snippet_id', {
    ...below,
    about: 'Shows one snippet of a project.',
    may: anyone(),
    params: IdentifyProjectSnippet,
    answers: one(snippet),
  })
  async show(call: ReadCall<IdentifyProjectSnippet>): Promise<JsonText> {
    return new JsonText(await this.queries.findSnippet(call.viewer, toSnippetKey(call)));
  }

  @Endpoint('POST', '', {
    ...below,
    about: 'Adds a snippet to a project.',
    may: mayCreate,
    params: CreateProjectSnippet,
    answers: created(snippet),
    bodyLimit: SNIPPET_BODY_LIMIT,
  })
  async create({ params, viewer, within }: WriteCall<CreateProjectSnippet>): Promise<JsonText> {
    return new JsonText(await this.snippets.create(viewer, within, params));
  }

  @Endpoint('PUT', ':snippet_id', {
    ...below,
    about: 'Changes a snippet of a project, or its files.',
    may: signedIn(),
    params: UpdateProjectSnippet,
    answers: one(snippet),
    bodyLimit: SNIPPET_BODY_LIMIT,
  })
  async update(call: WriteCall<UpdateProjectSnippet>): Promise<JsonText> {
    const { snippet_id: _, ...changes } = call.params;
    return new JsonText(await this.snippets.update(call.viewer, toSnippetKey(call), changes));
  }

  @Endpoint('DELETE', ':snippet_id', {
    ...below,
    about: 'Deletes a snippet of a project with its notes.',
    may: signedIn(),
    params: IdentifyProjectSnippet,
    answers: noContent(),
    fails: [412],
  })
  remove(call: WriteCall<IdentifyProjectSnippet>): Promise<void> {
    return this.snippets.remove(call.viewer, toSnippetKey(call), (updatedAt) => checkUnmodifiedSince(call, updatedAt));
  }

  @Endpoint('GET', ':snippet_id/raw', {
    ...below,
    about: 'Returns the content of the first file of a snippet.',
    may: anyone(),
    params: IdentifyProjectSnippet,
    answers: rawText,
  })
  async raw(call: ReadCall<IdentifyProjectSnippet>): Promise<FileAnswer> {
    return toRawFile(await this.queries.readContent(call.viewer, toSnippetKey(call)));
  }

  @Endpoint('GET', ':snippet_id/files/:ref/:file_path/raw', {
    ...below,
    about: 'Returns the content of one file of a snippet.',
    may: anyone(),
    params: IdentifyProjectSnippetFile,
    answers: rawText,
  })
  async rawFile(call: ReadCall<IdentifyProjectSnippetFile>): Promise<FileAnswer> {
    const { ref, file_path: path } = call.params;
    return toRawFile(await this.queries.readFile(call.viewer, toSnippetKey(call), ref, path));
  }
}
