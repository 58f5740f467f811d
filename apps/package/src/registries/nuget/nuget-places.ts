import { Injectable } from '@nestjs/common';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { DeclaredStatement } from '@rookery/persistence';
import { readablePackageProjectsSql } from '../../packages/listing/packages.queries';
import type { ReadableProjectsParams } from '../../packages/listing/packages.queries';

/** A project, or a group with the projects whose packages the viewer may read. */
export type NugetPlace = ProjectScope | GroupScope;
type ProjectParams = { readonly project: number };

/**
 * One statement over the packages of a project, and of the projects in a group. The FROM item `scope` has the column
 * `id`.
 */
export interface PlaceStatement<P extends object, R> {
  readonly ofProject: DeclaredStatement<ProjectParams & P, R>;
  readonly ofGroup: DeclaredStatement<ReadableProjectsParams & P, R>;
}

/** Declares a statement for both kinds of places. `compose` receives the FROM item that lists the projects. */
export function createNugetPlaceStatement<P extends object, R>(
  name: string,
  compose: (scope: string) => string,
): PlaceStatement<P, R> {
  return {
    ofProject: statement(`nuget_${name}_of_project`, compose('(select :project::bigint as id) scope')),
    ofGroup: statement(`nuget_${name}_of_group`, compose(readablePackageProjectsSql({ exclude_subgroups: false }))),
  };
}

/** Reads rows of a place. */
@Injectable()
export class NugetPlaces {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  async readRows<P extends object, R>(
    both: PlaceStatement<P, R>,
    place: NugetPlace,
    viewer: Viewer,
    params: P,
  ): Promise<R[]> {
    if (place.kind === 'project') return this.database.run(both.ofProject, { ...params, project: place.id });
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    const group = { group: place.id, below: place.traversalIds, viewer: userId, isAdmin, isExternal };
    return this.database.run(both.ofGroup, { ...params, ...group });
  }
}
