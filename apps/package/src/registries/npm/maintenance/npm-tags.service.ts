import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { CLOCK, Forbidden, NotFound, Refused } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { raisePackageIndexGeneration } from '../../../packages/indexing/package-index';
import { removeTag, setTag } from '../../../packages/indexing/package-tags';
import { canDeletePackages, canPublishPackages } from '../../../packages/packages.policy';
import { isNpmTagName } from '../npm-names';
import { NpmGate } from '../publishing/npm-gate';
import type { NpmPlace } from '../reading/npm-place';
import { NpmQueries } from '../reading/npm.queries';

/** A tag of a package at a place. */
export interface NpmTagKey {
  readonly place: NpmPlace;
  readonly name: string;
  readonly tag: string;
}

type IsViewerAllowed = (viewer: SignedInViewer, project: ProjectScope) => boolean;

/** Sets and removes tags. A tag of several projects is changed in the newest of them. Source: reference packages-and-admin 4.4. */
@Injectable()
export class NpmTagsService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: NpmQueries,
    private readonly gate: NpmGate,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Lets a tag name a version. Errors: NotFound for an unknown version; Forbidden; Refused for an invalid tag. */
  async setTag(viewer: SignedInViewer, { place, name, tag }: NpmTagKey, version: string): Promise<void> {
    if (!isNpmTagName(tag)) throw new Refused('Tag name must not be a valid SemVer range', { verbatim: true });
    checkProjectRegistryAccess(place, viewer, canPublishPackages);
    const found = (await this.queries.listVersions(await this.findSourceProjectIds(viewer, place, name), name)).filter(
      (row) => row.version === version,
    );
    if (found.length === 0) throw new NotFound('Package');
    const project = await this.requireProject(viewer, found.at(-1)!.project_id, canPublishPackages);
    await this.gate.refusePush(project, viewer, name);
    const named = { projectId: project.id, type: 'npm', name } as const;
    await this.work.run(async (tx) => {
      const now = this.clock.now();
      await raisePackageIndexGeneration(tx, named, now);
      const rows = await this.queries.listVersions([project.id], name, tx);
      const row = rows.find((one) => one.version === version);
      if (!row) throw new NotFound('Package');
      await setTag(tx, named, tag, row.id, now);
    });
  }

  /** Errors: NotFound for an unknown tag; Forbidden, also for `latest`. */
  async remove(viewer: SignedInViewer, { place, name, tag }: NpmTagKey): Promise<void> {
    checkProjectRegistryAccess(place, viewer, canDeletePackages);
    const projects = await this.findSourceProjectIds(viewer, place, name);
    const found = (await this.queries.listTags(projects, name)).filter((row) => row.name === tag);
    if (found.length === 0 && tag !== 'latest') throw new NotFound('Package tag');
    const project = await this.requireProject(viewer, found.at(-1)?.project_id ?? projects.at(-1)!, canDeletePackages);
    if (tag === 'latest') throw new Forbidden('latest cannot be removed', { verbatim: true });
    await this.gate.refusePush(project, viewer, name);
    const named = { projectId: project.id, type: 'npm', name } as const;
    await this.work.run(async (tx) => {
      await raisePackageIndexGeneration(tx, named, this.clock.now());
      if (!(await removeTag(tx, named, tag))) throw new NotFound('Package tag');
    });
  }

  private async findSourceProjectIds(
    viewer: SignedInViewer,
    place: NpmPlace,
    name: string,
  ): Promise<readonly number[]> {
    return (await this.queries.listSources(place, viewer, name)).map(({ project_id }) => project_id);
  }

  private async requireProject(viewer: SignedInViewer, id: number, isAllowed: IsViewerAllowed): Promise<ProjectScope> {
    const project = await this.directory.findProject(id, viewer);
    if (project === null) throw new NotFound('Package');
    if (!isAllowed(viewer, project)) throw new Forbidden();
    return project;
  }
}

/** In the registry of a project the right comes first, so that a caller without it does not learn names and tags. */
function checkProjectRegistryAccess({ scope }: NpmPlace, viewer: SignedInViewer, isAllowed: IsViewerAllowed): void {
  if (scope?.kind === 'project' && !isAllowed(viewer, scope)) throw new Forbidden();
}
