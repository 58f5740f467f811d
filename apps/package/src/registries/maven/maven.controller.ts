import { Controller } from '@nestjs/common';
import { anyone, emptyOk, Endpoint, orNoContent, AlternativeAnswer, streamedFile, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, GroupScope, ProjectScope, StreamedCall } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { MAX_FILE_BYTES } from '../../packages/package-files';
import {
  BASIC_REFUSALS,
  basicGroupRegistry,
  basicRegistry,
  publishesPackages,
  readsPackages,
} from '../../packages/packages.permission';
import { IdentifyMavenFile } from './maven.dto';
import { parseMavenPath } from './maven-path';
import { MavenDownloads } from './maven.presenter';
import { MavenInstanceAccess, unreadableMavenPathRefusal } from './maven.permission';
import { MavenQueries } from './maven.queries';
import { MavenService } from './maven.service';

const FILE = 'maven/*path/:file_name';
/** Newer resolvers of Maven show the reason from problem details. */
const refusals = { ...BASIC_REFUSALS, offersProblemDetails: true } as const;
const downloads = {
  source: 'reference packages-and-admin 4.6',
  params: IdentifyMavenFile,
  answers: streamedFile('application/octet-stream', {
    'application/xml': { type: 'string', description: 'A POM or metadata.' },
    'text/plain': { type: 'string', description: 'A digest, in hexadecimal.' },
  }),
  fails: [404],
} as const;

@Controller()
export class MavenController {
  constructor(
    private readonly uploads: MavenService,
    private readonly maven: MavenQueries,
    private readonly downloads: MavenDownloads,
    private readonly access: MavenInstanceAccess,
  ) {}

  @Endpoint('GET', `/projects/:id/packages/${FILE}`, {
    ...basicRegistry,
    refusals,
    ...downloads,
    may: readsPackages,
    about: 'Downloads a file of a Maven package, its digest, or generated metadata.',
  })
  async download({ within: { id }, params }: Call<IdentifyMavenFile, ProjectScope>): Promise<FileAnswer> {
    const found = await this.downloads.findDownload(
      { kind: 'project', id },
      parseMavenPath(params.path, params.file_name),
    );
    if (found === null) throw new NotFound('Package');
    return found;
  }

  @Endpoint('GET', `/groups/:id/-/packages/${FILE}`, {
    ...basicGroupRegistry,
    refusals: { ...basicGroupRegistry.refusals, offersProblemDetails: true },
    ...downloads,
    about: 'Downloads a Maven file from the packages of a group that the caller may read; of several, from the newest.',
  })
  async downloadOfGroup({ within, viewer, params }: Call<IdentifyMavenFile, GroupScope>): Promise<FileAnswer> {
    const place = { kind: 'group', group: within, viewer } as const;
    const found = await this.downloads.findDownload(place, parseMavenPath(params.path, params.file_name));
    if (found === null) throw new NotFound('Package');
    return found;
  }

  @Endpoint('GET', `/packages/${FILE}`, {
    ...downloads,
    may: anyone(),
    refusals,
    fails: [403, 404],
    about: 'Downloads a file of a Maven package that has the full path of its project.',
  })
  async downloadOfInstance({ viewer, params }: Call<IdentifyMavenFile>): Promise<FileAnswer> {
    const address = parseMavenPath(params.path, params.file_name);
    const { id } = await this.access.findProject(address, viewer);
    const found = await this.downloads.findDownload({ kind: 'project', id }, address);
    if (found !== null) return found;
    if (await this.maven.hasPackage(id, address.name)) throw new NotFound('Package');
    throw unreadableMavenPathRefusal(viewer);
  }

  @Endpoint('PUT', `/projects/:id/packages/${FILE}`, {
    ...basicRegistry,
    refusals,
    source: downloads.source,
    params: IdentifyMavenFile,
    may: publishesPackages,
    about: 'Uploads a file of a Maven package, or compares a digest with the file that it belongs to.',
    body: streamedBody({ maxBytes: MAX_FILE_BYTES, digests: ['sha512'] }),
    answers: orNoContent(emptyOk()),
    fails: [400, 404, 409],
  })
  async upload(call: StreamedCall<IdentifyMavenFile, ProjectScope, SignedInViewer>): Promise<void | AlternativeAnswer> {
    const { within, viewer, params, body, answered } = call;
    const result = await this.uploads.uploadFile(within, viewer, parseMavenPath(params.path, params.file_name), {
      source: body,
      declaredSize: body.declaredSize,
      answered,
      sha512: () => body.digest('sha512'),
    });
    if (result === 'compared') return new AlternativeAnswer(null);
  }
}
