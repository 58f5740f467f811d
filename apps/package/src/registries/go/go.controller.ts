import { Controller } from '@nestjs/common';
import { Endpoint, streamedFile } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, RenderedError } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import { basicRegistry, readsCodeOfPackages } from '../../packages/packages.permission';
import { IdentifyGoFile } from './go.dto';
import { GoService } from './go.service';
import type { ResolvedGoVersion } from './go.service';

const TEXT = 'text/plain; charset=utf-8';
const INFO = {
  type: 'object',
  properties: {
    Version: { type: 'string', description: 'Version of the module.' },
    Time: { type: 'string', description: 'Time of the commit.' },
  },
  required: ['Version', 'Time'],
} as const;
/** The names of versions hold dots, too. */
const FILE = /^(.+)\/@v\/([^/]+)\.(info|mod|zip)$/;
const LIST = /^(.+)\/@v\/list$/;
const LATEST = /^(.+)\/@latest$/;

/** The protocol of Go's module proxies. */
@Controller()
export class GoController {
  constructor(private readonly go: GoService) {}

  @Endpoint('GET', '/projects/:id/packages/go/*path', {
    ...basicRegistry,
    refusals: { ...basicRegistry.refusals, renderedAs: withTextBody, isText: true },
    source: 'reference packages-and-admin 4.12',
    may: readsCodeOfPackages,
    about: 'Lists the versions of a Go module, describes one, or returns its go.mod or its files.',
    params: IdentifyGoFile,
    answers: streamedFile('application/zip', { 'text/plain': {}, 'application/json': INFO }),
    fails: [404, 429],
  })
  async download({ within, viewer, params }: Call<IdentifyGoFile, ProjectScope>): Promise<FileAnswer> {
    const [, listed] = LIST.exec(params.path) ?? [];
    if (listed !== undefined) return this.listVersions(within, listed);
    const [, latest] = LATEST.exec(params.path) ?? [];
    if (latest !== undefined)
      return versionInfoAnswer(await this.go.findLatest(within, this.go.parseModule(within, latest)));
    const [, path, version, kind] = FILE.exec(params.path) ?? [];
    if (path === undefined) throw new NotFound();
    const module = this.go.parseModule(within, path);
    if (kind === 'info') return versionInfoAnswer(await this.go.describeVersion(within, module, version!));
    const found = await this.go.findVersion(within, module, version!);
    if (kind === 'mod') return { stream: Buffer.from(found.goMod), mediaType: TEXT };
    return { stream: () => this.go.openZip(within, viewer, found), mediaType: 'application/zip' };
  }

  private async listVersions(project: ProjectScope, path: string): Promise<FileAnswer> {
    const versions = await this.go.listVersions(project, this.go.parseModule(project, path));
    return { stream: Buffer.from(versions.map((version) => `${version}\n`).join('')), mediaType: TEXT };
  }
}

function versionInfoAnswer({ version, time }: ResolvedGoVersion): FileAnswer {
  return { stream: Buffer.from(JSON.stringify({ Version: version, Time: time })), mediaType: 'application/json' };
}

/** Converts the JSON body of an error to plain text, because the go command shows a text body to its user. */
function withTextBody(refusal: RenderedError): RenderedError {
  if (refusal.body === null) return refusal;
  const { message, error, error_description } = JSON.parse(refusal.body) as Readonly<Record<string, unknown>>;
  const inner = (message as { readonly error?: unknown } | undefined)?.error;
  const text = [message, inner, error_description, error].find((one) => typeof one === 'string') ?? 'refused';
  return { ...refusal, headers: { ...refusal.headers, 'content-type': TEXT }, body: `${String(text)}\n` };
}
