import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { SCOPE_RESOLVER } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { SiblingPaths } from '../paths/sibling-paths.repository';

/** Finds projects by paths that they left, as far as the viewer may see where they are now. */
@Injectable()
export class FormerPaths {
  constructor(
    private readonly db: Database,
    private readonly paths: SiblingPaths,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  async project(ref: number | string, viewer: Viewer): Promise<ProjectScope | null> {
    const id = typeof ref === 'string' ? await this.paths.formerProject(this.db, ref) : null;
    return id === null ? null : this.scopes.project(id, viewer);
  }
}
