import type { ProjectScope } from '@rookery/api-v4';

/**
 * Returns the text for a git user who addresses a project by a former path, null for the present path. `url` is the
 * present address of the repository. Source: reference repositories 1.9.
 */
export function moveNotice(addressedAs: string, { fullPath }: ProjectScope, url: string): string | null {
  if (addressedAs.toLowerCase() === fullPath.toLowerCase()) return null;
  const steps = ['Please update your Git remote:', `  git remote set-url origin ${url}`];
  return [`Project '${addressedAs}' was moved to '${fullPath}'.`, ...steps].join('\n\n');
}
