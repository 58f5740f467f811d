import { Injectable } from '@nestjs/common';
import { INTERNAL_PATHS, MAX_LEFT_OUT, MAX_SNIPPET_REQUEST } from '@rookery/contracts';
import type {
  ImportSnippetAnswer,
  ImportSnippetRequest,
  LeftOutSnippetsAnswer,
  LeftOutSnippetsRequest,
} from '@rookery/contracts';
import { InternalRoutes } from '@rookery/platform';
import type { InternalRouteClient } from '@rookery/platform';
import type { RemoteGist } from '../sources/remote/remote-gists';
import type { GistImportRow } from './gist-import-records';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 60_000;
const TOO_LARGE = 'Its files are too large.';

/** Writes personal snippets in collaboration, and has their users notified. Errors: a plain Error without an answer. */
@Injectable()
export class ImportSnippetsClient {
  private readonly snippets: InternalRouteClient<ImportSnippetRequest, ImportSnippetAnswer>;
  private readonly leftOut: InternalRouteClient<LeftOutSnippetsRequest, LeftOutSnippetsAnswer>;

  constructor(routes: InternalRoutes) {
    const limits = { connections: 2, maxWaitMs: MAX_WAIT_MS };
    this.snippets = routes.createClient('collaboration', INTERNAL_PATHS.importSnippet, limits);
    this.leftOut = routes.createClient('collaboration', INTERNAL_PATHS.importLeftOut, limits);
  }

  /** Returns the reason why a gist cannot be a snippet; null if it is one now. */
  async writeSnippet(
    userId: number,
    source: string,
    gist: RemoteGist & { readonly title: string },
  ): Promise<string | null> {
    const request: ImportSnippetRequest = {
      ...{ user_id: userId, source, upstream_id: gist.id, title: gist.title },
      visibility: gist.isPublic ? 'public' : 'private',
      files: gist.files.map(({ name, content }) => ({ path: name, content: content ?? '' })),
      ...{ created_at: gist.createdAt, updated_at: gist.updatedAt },
    };
    if (Buffer.byteLength(JSON.stringify(request)) > MAX_SNIPPET_REQUEST) return TOO_LARGE;
    return (await this.snippets.ask(request)).problem;
  }

  /** Has the user notified about gists that were left out, once for each import. */
  async notifyUser({ id, import_key, user_id, left_out: found }: GistImportRow): Promise<void> {
    await this.leftOut.ask({ import_key, user_id, import_id: id, snippets: [...found.slice(0, MAX_LEFT_OUT)] });
  }
}
