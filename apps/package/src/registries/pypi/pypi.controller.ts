import { Controller } from '@nestjs/common';
import {
  createdMessage,
  Endpoint,
  file,
  withAlternative,
  AlternativeAnswer,
  streamedFile,
  streamedBody,
} from '@rookery/api-v4';
import type { Call, FileAnswer, GroupScope, NoParams, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { packageDownload } from '../../packages/package-download.presenter';
import { MAX_FILE_BYTES, PackageFiles } from '../../packages/package-files';
import { nameKeyOf } from '../../packages/package-types';
import {
  basicGroupRegistry,
  basicRegistry,
  publishesPackages,
  readsPackages,
} from '../../packages/packages.permission';
import { toWheelMetadataDownload } from './metadata-download.presenter';
import { ListPypiPackages, IdentifyPypiFile, ShowPypiPackage } from './pypi.dto';
import { PypiSimpleIndexQueries } from './simple-index.queries';
import { INDEX_TYPES, renderPypiIndexPage, PACKAGE_TYPES, renderPypiPackagePage } from './simple-page.presenter';
import { PypiUploadsService } from './uploads.service';

const IN_PROJECT = '/projects/:id/packages/pypi';
const IN_GROUP = '/groups/:id/-/packages/pypi';
const SOURCE = 'reference packages-and-admin 4.5';
const METADATA = '.metadata';

const MESSAGE = {
  type: 'object',
  properties: { message: { type: 'string', description: 'Always `200 OK`.' } },
  required: ['message'],
} as const;

const reads = { ...basicRegistry, source: SOURCE, may: readsPackages } as const;
const readsGroup = { ...basicGroupRegistry, source: SOURCE } as const;
const index = { params: ListPypiPackages, answers: file('text/html', undefined, INDEX_TYPES) } as const;
const page = {
  params: ShowPypiPackage,
  answers: file('text/html', undefined, PACKAGE_TYPES),
  fails: [304, 404],
} as const;
const download = { params: IdentifyPypiFile, answers: streamedFile(), fails: [404] } as const;

type IndexPlace = ProjectScope | GroupScope;

@Controller()
export class PypiController {
  constructor(
    private readonly uploads: PypiUploadsService,
    private readonly simple: PypiSimpleIndexQueries,
    private readonly files: PackageFiles,
    private readonly links: Links,
  ) {}

  @Endpoint('POST', IN_PROJECT, {
    ...basicRegistry,
    source: SOURCE,
    may: publishesPackages,
    about: 'Uploads a file of a Python package, as a form. A form that only registers a name has no effect.',
    body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
    answers: withAlternative(createdMessage(), 200, MESSAGE),
    fails: [400],
  })
  async upload(call: StreamedCall<NoParams, ProjectScope, SignedInViewer>): Promise<void | AlternativeAnswer> {
    const hasFile = await this.uploads.uploadFile(call.within, call.viewer, call);
    if (!hasFile) return new AlternativeAnswer({ message: '200 OK' });
  }

  @Endpoint('GET', `${IN_PROJECT}/simple`, { ...reads, ...index, about: 'Lists the Python packages of a project.' })
  list(call: Call<ListPypiPackages, ProjectScope>): FileAnswer {
    return this.indexAnswer(call);
  }

  @Endpoint('GET', `${IN_GROUP}/simple`, { ...readsGroup, ...index, about: 'Lists the Python packages of a group.' })
  listOfGroup(call: Call<ListPypiPackages, GroupScope>): FileAnswer {
    return this.indexAnswer(call);
  }

  @Endpoint('GET', `${IN_PROJECT}/simple/:package_name`, {
    ...reads,
    ...page,
    about: 'Lists the files of a Python package, for installers.',
  })
  show(call: Call<ShowPypiPackage, ProjectScope>): Promise<FileAnswer> {
    return this.packagePageAnswer(call);
  }

  @Endpoint('GET', `${IN_GROUP}/simple/:package_name`, {
    ...readsGroup,
    ...page,
    about: 'Lists the files of a Python package in the projects of a group, for installers.',
  })
  showInGroup(call: Call<ShowPypiPackage, GroupScope>): Promise<FileAnswer> {
    return this.packagePageAnswer(call);
  }

  @Endpoint('GET', `${IN_PROJECT}/files/:sha256/:file_identifier`, {
    ...reads,
    ...download,
    about: 'Downloads a file of a Python package, or the core metadata of a wheel.',
  })
  download(call: Call<IdentifyPypiFile, ProjectScope>): Promise<FileAnswer> {
    return this.fileAnswer(call);
  }

  @Endpoint('GET', `${IN_GROUP}/files/:sha256/:file_identifier`, {
    ...readsGroup,
    ...download,
    about: 'Downloads a file of a Python package in a project of the group, or the core metadata of a wheel.',
  })
  downloadInGroup(call: Call<IdentifyPypiFile, GroupScope>): Promise<FileAnswer> {
    return this.fileAnswer(call);
  }

  private indexAnswer({ within, viewer, params }: Call<ListPypiPackages, IndexPlace>): FileAnswer {
    return renderPypiIndexPage(params.accept, `${this.registryUrl(within)}/simple`, () =>
      this.simple.listNames(within, viewer),
    );
  }

  private async packagePageAnswer({ within, viewer, params }: Call<ShowPypiPackage, IndexPlace>): Promise<FileAnswer> {
    const { package_name: name, accept } = params;
    const digest = await this.simple.computeDigest(within, viewer, name);
    return renderPypiPackagePage(accept, {
      nameKey: nameKeyOf('pypi', name),
      base: `${this.registryUrl(within)}/files`,
      digest,
      files: () => this.simple.listFiles(within, viewer, name),
      versions: () => this.simple.listVersions(within, viewer, name),
    });
  }

  private async fileAnswer({ within, viewer, params }: Call<IdentifyPypiFile, IndexPlace>): Promise<FileAnswer> {
    const { sha256, file_identifier: name } = params;
    if (!name.endsWith(METADATA)) {
      const found = await this.simple.findDownload(within, viewer, sha256, name);
      return { ...packageDownload(this.files, found, name), isImmutable: true };
    }
    const fileName = name.slice(0, -METADATA.length);
    return toWheelMetadataDownload(this.files, await this.simple.findMetadata(within, viewer, sha256, fileName), name);
  }

  /** URLs in pages lead to the same place as the request. */
  private registryUrl({ kind, id }: IndexPlace): string {
    return this.links.apiUrl(kind === 'project' ? `projects/${id}/packages/pypi` : `groups/${id}/-/packages/pypi`);
  }
}
