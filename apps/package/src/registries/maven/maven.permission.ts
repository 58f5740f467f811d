import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Forbidden } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { BASIC_REFUSALS } from '../../packages/packages.permission';
import { canReadPackages } from '../../packages/packages.policy';
import type { MavenFilePath } from './maven-path';

/** Finds the project of a path for the routes of the instance, where a package has the full path of its project. */
@Injectable()
export class MavenInstanceAccess {
  constructor(private readonly directory: Directory) {}

  /**
   * The project of the package. Errors: Forbidden for a path without a project whose packages the viewer may read;
   * Unauthorized with a challenge for an anonymous caller.
   */
  async findProject({ name }: MavenFilePath, viewer: Viewer): Promise<ProjectScope> {
    const project = name.includes('/') ? await this.directory.findProject(name, viewer) : null;
    if (project !== null && canReadPackages(viewer, project)) return project;
    throw unreadableMavenPathRefusal(viewer);
  }
}

/** Refusal for a path that the viewer cannot read, whether it exists or not: 401 for anonymous callers, otherwise 403. */
export function unreadableMavenPathRefusal({ userId }: Viewer): Error {
  return userId === null ? BASIC_REFUSALS.anonymousAs!() : new Forbidden();
}
