import { Controller } from '@nestjs/common';
import { anyone, Endpoint, file, Text } from '@rookery/api-v4';
import type { Call, FileAnswer } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { isSignedIn, NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';

/** Namespaces are nested at most this deep. */
const MAX_SEGMENTS = 21;

/** Parameters of a `go get` request. */
class ShowGoImport {
  @Text({ in: 'path', about: 'Import path of a Go package without the host: a project and a folder in it.' })
  import_path: string;
}

/** Repositories of Go packages: `go get` asks for `https://<import path>?go-get=1`. Source: reference repositories 1.8. */
@Controller()
export class GoImportController {
  constructor(
    private readonly directory: Directory,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', '//-/go-get/*import_path', {
    about: 'Names the repository of a Go package. The gateway sends requests with `go-get=1` here.',
    source: 'reference repositories 1.8',
    may: anyone(),
    params: ShowGoImport,
    answers: file('text/html'),
    fails: [404],
    tokenScopes: 'any',
  })
  async show({ params, viewer }: Call<ShowGoImport>): Promise<FileAnswer> {
    const segments = params.import_path.split('/');
    const path = await this.findRepositoryPath(viewer, segments);
    return { mediaType: 'text/html; charset=utf-8', stream: Buffer.from(this.renderGoImportPage(path)) };
  }

  /**
   * Returns the path of the project, or for anonymous callers a guess, so that they learn nothing about hidden projects:
   * git will ask for a credential. Errors: NotFound for signed-in callers; Go then asks for the folder above.
   */
  private async findRepositoryPath(viewer: Viewer, segments: readonly string[]): Promise<string> {
    for (let length = 2; length <= Math.min(segments.length, MAX_SEGMENTS); length += 1) {
      const project = await this.directory.findProject(segments.slice(0, length).join('/'), viewer);
      if (project) return project.fullPath;
    }
    if (isSignedIn(viewer) || segments.length < 2) throw new NotFound();
    return segments.slice(0, 2).join('/');
  }

  private renderGoImportPage(path: string): string {
    const url = new URL(this.links.webUrl(path.split('/').map(encodeURIComponent).join('/')));
    const content = escapeHtml(`${url.host}${url.pathname} git ${url.href}.git`);
    return `<html><head><meta name="go-import" content="${content}"></head></html>\n`;
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
