import type { ProjectScope } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import { ACCESS_LEVELS, Forbidden, isSignedIn, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';

/** Scopes of tokens that open code. Source: reference repositories 1.2. */
const DOWNLOAD_SCOPES = ['api', 'read_repository', 'write_repository'];
const UPLOAD_SCOPES = ['api', 'write_repository'];

/** Git services by name. Source: reference repositories 1.1. */
export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** Whether the project has a repository for the viewer, who sees the project. Source: reference repositories 2.1. */
export function hasRepository(viewer: Viewer, { level, repositoryAccessLevel }: ProjectScope): boolean {
  if (repositoryAccessLevel === 'private') return viewer.isAdmin || level >= ACCESS_LEVELS.guest;
  return repositoryAccessLevel === 'enabled';
}

/** Whether the viewer may push to a project whose code they may read. Archived projects are for the caller to refuse. */
export function mayPushCode(viewer: Viewer, project: ProjectScope): boolean {
  return mayReadCode(viewer, project) && (viewer.isAdmin || project.level >= ACCESS_LEVELS.developer);
}

/**
 * Checks a request of a git client. Errors: Unauthorized for anonymous callers, who may have a credential; Forbidden
 * with the text that git shows. `mayPushToSomeBranch` says whether the caller may push to a branch. Source: reference
 * repositories 1.3.
 */
export async function checkGitClientRequest(
  viewer: Viewer,
  project: ProjectScope,
  service: GitService,
  mayPushSome: () => Promise<boolean>,
): Promise<true> {
  const isPush = service === 'git-receive-pack';
  if (!isSignedIn(viewer)) {
    if (isPush || !mayReadCode(viewer, project)) throw new Unauthorized();
    return true;
  }
  const scopes = isPush ? UPLOAD_SCOPES : DOWNLOAD_SCOPES;
  if (!viewer.scopes.some((scope) => scopes.includes(scope)))
    throw gitRefusal(`You are not allowed to ${isPush ? 'upload' : 'download'} code.`);
  if (!mayReadCode(viewer, project)) throw gitRefusal('You are not allowed to download code from this project.');
  if (!isPush) return true;
  if (!(await mayPushSome())) throw gitRefusal('You are not allowed to push code to this project.');
  if (project.archived) throw gitRefusal("You can't push code to an archived project.");
  return true;
}

/** Returns a refusal whose text git shows as it is. */
export function gitRefusal(text: string): Forbidden {
  return new Forbidden(text, { verbatim: true });
}
