import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { isAncestor, listRefs, readHead } from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { RefProtections } from '../../protected-refs/ref-protections';
import type { RefAccess } from '../../protected-refs/ref-protections';
import type { PushSource } from './push.entity';
import { refusalOfRefs } from './ref-rules';
import type { PushFacts } from './ref-rules';

/** A push or a change through the API, as far as its rules depend on it. */
export interface PushRequest {
  readonly project: ProjectScope;
  /** Null for an import, which has the rights of the level of `project`. */
  readonly viewer: Viewer | null;
  readonly source: PushSource;
  /** The change merges a request. */
  readonly isMerge?: true | undefined;
}

const BRANCHES = 'refs/heads/';
const IMPORT = { isAdmin: false, userId: null } as const;

/** Checks pushes and changes through the API against the rules of the project. Source: reference repositories 1.4. */
@Injectable()
export class PushRules {
  constructor(
    private readonly protections: RefProtections,
    private readonly links: Links,
  ) {}

  /** Returns the refusal of the updates for the user, or null. `view` sees the new objects; the refs have not moved. */
  async findRefusal(view: Repository, request: PushRequest, updates: readonly RefUpdate[]): Promise<string | null> {
    const [head, branches, access] = await Promise.all([
      readHead(view),
      listRefs(view, { under: ['refs/heads'], max: 1 }),
      this.protections.readAccess({ ...request, viewer: request.viewer ?? IMPORT }),
    ]);
    const { project, viewer, source, isMerge } = request;
    const defaultBranch = head.slice(BRANCHES.length);
    const isEmpty = branches.length === 0;
    const facts: PushFacts = {
      ...{ defaultBranch, access, source, isMerge: isMerge === true, isEmpty },
      canDevelopersPushFirst: isEmpty && (await this.protections.canDevelopersPushFirst(project.id, viewer)),
      isImport: viewer === null,
      isMaintainer: viewer?.isAdmin || project.level >= ACCESS_LEVELS.maintainer,
      noDefaultBranchText: this.noDefaultBranchMessage(project, defaultBranch),
      isForced: async ({ oldId, newId }) => !(await isAncestor(view, oldId, newId)),
      isOnProtectedBranch: (id) => isCommitOnProtectedBranch(view, access, id),
    };
    return refusalOfRefs(updates, facts);
  }

  private noDefaultBranchMessage({ fullPath }: ProjectScope, defaultBranch: string): string {
    return [
      '',
      `A default branch (e.g. ${defaultBranch}) does not yet exist for ${fullPath}`,
      'Ask a project Owner or Maintainer to create a default branch:',
      '',
      `  ${this.links.webUrl(`${fullPath}/-/project_members`)}`,
      '',
    ].join('\n');
  }
}

async function isCommitOnProtectedBranch(view: Repository, access: RefAccess, id: ObjectId): Promise<boolean> {
  const containing = await listRefs(view, { under: ['refs/heads'], contains: id });
  return containing.some(({ name }) => access.branchAccess(name.slice(BRANCHES.length)).isProtected);
}
