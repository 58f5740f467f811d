import { Controller } from '@nestjs/common';
import {
  unpagedList,
  anyone,
  checkUnmodifiedSince,
  Endpoint,
  group,
  noContent,
  one,
  page,
  project,
} from '@rookery/api-v4';
import type { Call, GroupScope, ProjectScope } from '@rookery/api-v4';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { Page } from '@rookery/kernel';
import { PackageProtections } from '../protection-rules/protections';
import { PackagesQueries } from './listing/packages.queries';
import type { PackageFileRow, PackageRow } from './listing/packages.queries';
import {
  detailedPackagePresenter,
  groupPackagePresenter,
  packageFilePresenter,
  packagePipelinePresenter,
  packagePresenter,
} from './package.presenter';
import type { PackageWithVersions } from './package.presenter';
import {
  ListGroupPackages,
  ListPackageFiles,
  ListPackagePipelines,
  ListProjectPackages,
  IdentifyPackage,
  IdentifyPackageFile,
} from './packages.dto';
import { deletesPackages, readsPackages } from './packages.permission';
import { PackageRemoval } from './removal/package-removal';
import type { Deletion } from './removal/package-removal';

const SOURCE = 'requirements 3 §4 Packages';
const GAPS = 'requirements 3 §4; reference packages-and-admin 3.5';
const PACKAGES = '/projects/:id/packages';
const PACKAGE = `${PACKAGES}/:package_id`;

const reads = { source: SOURCE, within: project(), may: readsPackages } as const;
const deletes = {
  source: GAPS,
  within: project(),
  may: deletesPackages,
  answers: noContent(),
  fails: [404, 412],
  refusals: { anonymousAs: () => new Forbidden() },
} as const;

@Controller()
export class PackagesController {
  constructor(
    private readonly packages: PackagesQueries,
    private readonly removal: PackageRemoval,
    private readonly protections: PackageProtections,
  ) {}

  @Endpoint('GET', PACKAGES, {
    ...reads,
    about: 'Lists the packages of a project.',
    params: ListProjectPackages,
    answers: page(packagePresenter),
  })
  list({ within, viewer, params, page }: Call<ListProjectPackages, ProjectScope>): Promise<Page<PackageRow>> {
    return this.packages.ofProject(within, viewer, params, page);
  }

  @Endpoint('GET', '/groups/:id/packages', {
    source: SOURCE,
    within: group('id', 'copy'),
    may: anyone(),
    about: 'Lists the packages of the projects in a group whose packages the caller may read.',
    params: ListGroupPackages,
    answers: page(groupPackagePresenter),
  })
  listOfGroup({ within, viewer, params, page }: Call<ListGroupPackages, GroupScope>): Promise<Page<PackageRow>> {
    return this.packages.ofGroup(within, viewer, params, page);
  }

  @Endpoint('GET', PACKAGE, {
    ...reads,
    about: 'Returns a package with its other versions.',
    params: IdentifyPackage,
    answers: one(detailedPackagePresenter),
    fails: [404],
  })
  async show({ within, viewer, params }: Call<IdentifyPackage, ProjectScope>): Promise<PackageWithVersions> {
    const found = await this.packages.findPackage(within, viewer, params.package_id);
    return { ...found, siblings: await this.packages.listSiblings(found.id) };
  }

  @Endpoint('GET', `${PACKAGE}/package_files`, {
    ...reads,
    about: 'Lists the files of a package.',
    params: ListPackageFiles,
    answers: page(packageFilePresenter),
    fails: [404],
  })
  async files(call: Call<ListPackageFiles, ProjectScope>): Promise<Page<PackageFileRow>> {
    const { within, viewer, params } = call;
    const found = await this.packages.findPackage(within, viewer, params.package_id);
    return this.packages.listFiles(found.id, params, call.page);
  }

  @Endpoint('GET', `${PACKAGE}/pipelines`, {
    ...reads,
    source: GAPS,
    about: 'Lists the pipelines that published a package, newest first. There are none: uploads do not record theirs.',
    params: ListPackagePipelines,
    answers: unpagedList(packagePipelinePresenter),
    fails: [404],
  })
  async pipelines({ within, viewer, params }: Call<ListPackagePipelines, ProjectScope>): Promise<readonly never[]> {
    await this.packages.findPackage(within, viewer, params.package_id, new NotFound('Package not found'));
    return [];
  }

  @Endpoint('DELETE', PACKAGE, { ...deletes, about: 'Deletes a package with its files.', params: IdentifyPackage })
  async remove(call: Call<IdentifyPackage, ProjectScope>): Promise<void> {
    await this.removal.removePackage(call.params.package_id, this.toDeletion(call));
  }

  @Endpoint('DELETE', `${PACKAGE}/package_files/:package_file_id`, {
    ...deletes,
    about: 'Deletes a file of a package. The last file takes the package with it.',
    params: IdentifyPackageFile,
  })
  async removeFile(call: Call<IdentifyPackageFile, ProjectScope>): Promise<void> {
    await this.removal.removeFile(call.params.package_file_id, call.params.package_id, this.toDeletion(call));
  }

  private toDeletion(call: Call<unknown, ProjectScope>): Deletion {
    const { within, viewer } = call;
    return {
      projectId: within.id,
      actorId: viewer.userId,
      check: (found) => this.protections.refuseDelete(within, viewer, found.package_type, found.name),
      unchanged: (updatedAt) => checkUnmodifiedSince(call, updatedAt),
    };
  }
}
