import { Controller } from '@nestjs/common';
import {
  created,
  Endpoint,
  group,
  oneOrUnfinished,
  project,
  signedIn,
  streamedFile,
  UnfinishedAnswer,
} from '@rookery/api-v4';
import type { Call, FileAnswer, GroupScope, ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { PackageFiles } from '../packages/package-files';
import { dependencyExportPresenter } from './dependency-export.presenter';
import {
  CreateGroupDependencyExport,
  CreatePipelineDependencyExport,
  CreateProjectDependencyExport,
  IdentifyDependencyExport,
} from './dependency-exports.dto';
import { readsDependencies } from './dependency-exports.permission';
import type { ExportRow } from './dependency-exports.queries';
import { DependencyExportsService } from './dependency-exports.service';
import { toDependencyExportDownload } from './dependency-export-download.presenter';

const SOURCE = 'requirements 3 §4 Dependency list exports; reference packages-and-admin 6.2';
const EXPORT = '/dependency_list_exports/:id';
const creates = { source: SOURCE, may: readsDependencies, answers: created(dependencyExportPresenter) } as const;
const reads = { source: SOURCE, may: signedIn(), params: IdentifyDependencyExport, fails: [403, 404] } as const;
/** Time after which a client asks again. Units: ms. */
const POLL_MS = 5000;

@Controller()
export class DependencyExportsController {
  constructor(
    private readonly exports: DependencyExportsService,
    private readonly files: PackageFiles,
  ) {}

  @Endpoint('POST', '/projects/:id/dependency_list_exports', {
    ...creates,
    within: project(),
    about: 'Starts an export of the dependencies of a project.',
    params: CreateProjectDependencyExport,
  })
  create({
    within,
    viewer,
    params,
  }: Call<CreateProjectDependencyExport, ProjectScope, SignedInViewer>): Promise<ExportRow> {
    return this.exports.create(within, viewer, params);
  }

  @Endpoint('POST', '/groups/:id/dependency_list_exports', {
    ...creates,
    within: group(),
    about: 'Starts an export of the dependencies of the projects of a group.',
    params: CreateGroupDependencyExport,
  })
  createOfGroup({
    within,
    viewer,
    params,
  }: Call<CreateGroupDependencyExport, GroupScope, SignedInViewer>): Promise<ExportRow> {
    return this.exports.create(within, viewer, params);
  }

  @Endpoint('POST', '/pipelines/:id/dependency_list_exports', {
    ...creates,
    may: signedIn(),
    about: 'Starts an export of the components that the jobs of a pipeline reported.',
    params: CreatePipelineDependencyExport,
    fails: [403, 404],
  })
  createOfPipeline({
    viewer,
    params,
  }: Call<CreatePipelineDependencyExport, undefined, SignedInViewer>): Promise<ExportRow> {
    return this.exports.createOfPipeline(params.id, viewer, params);
  }

  @Endpoint('GET', EXPORT, {
    ...reads,
    about: 'Returns an export to its author; 202 while the file is being written.',
    answers: oneOrUnfinished(dependencyExportPresenter),
  })
  async show(
    call: Call<IdentifyDependencyExport, undefined, SignedInViewer>,
  ): Promise<ExportRow | UnfinishedAnswer<ExportRow>> {
    const found = await this.exports.show(call.params.id, call.viewer);
    const isUnfinished = found.status === 'created' || found.status === 'running';
    return isUnfinished ? new UnfinishedAnswer(found, POLL_MS) : found;
  }

  @Endpoint('GET', `${EXPORT}/download`, {
    ...reads,
    about: 'Downloads the file of a finished export.',
    answers: streamedFile('application/json', { 'text/csv': {} }),
  })
  async download(call: Call<IdentifyDependencyExport, undefined, SignedInViewer>): Promise<FileAnswer> {
    const found = await this.exports.show(call.params.id, call.viewer);
    if (found.status !== 'finished') throw new NotFound('DependencyListExport');
    return toDependencyExportDownload(this.files, found);
  }
}
