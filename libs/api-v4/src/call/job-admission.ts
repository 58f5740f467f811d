import type { ProjectScope } from './scope';

type AdmittingProject = Pick<ProjectScope, 'id' | 'jobAdmission'>;
type JobProject = Pick<ProjectScope, 'id'> & { readonly namespace: Pick<ProjectScope['namespace'], 'traversalIds'> };

/**
 * Whether a project admits the tokens of jobs of another project (`origin`). It admits its own. Source: reference
 * identity-and-import 4.10; ADR 0198.
 */
export function admitsJobTokensOf({ id, jobAdmission }: AdmittingProject, origin: JobProject): boolean {
  if (origin.id === id) return true;
  if (jobAdmission === null) return false;
  const { all, projects, groups } = jobAdmission;
  return all || projects.includes(origin.id) || groups.some((group) => origin.namespace.traversalIds.includes(group));
}
