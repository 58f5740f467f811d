import { Injectable } from '@nestjs/common';
import type { DirectoryJobAdmission } from '@rookery/contracts';
import { NotFound, Refused } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../../directory/change-log';

/** Lists of an admission, with the words of their refusals. */
const TARGETS = { projects: 'project', groups: 'group' } as const;
type AdmissionListKind = keyof typeof TARGETS;

/** The most projects, and the most groups, that a project admits. */
const LONGEST_LIST = 200;
const NONE: DirectoryJobAdmission = { all: false, projects: [], groups: [] };

/** Changes the projects and groups whose jobs a project admits. Source: reference identity-and-import 4.10. */
@Injectable()
export class JobTokenScopeService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
  ) {}

  /** Admits the jobs of all projects, or only of those in the lists. */
  setAll(projectId: number, all: boolean): Promise<void> {
    return this.changeAdmission(projectId, (admission) => ({ ...admission, all }));
  }

  /** Errors: Refused for a target that is in the list, and when the list is full. */
  admit(projectId: number, kind: AdmissionListKind, id: number): Promise<void> {
    return this.changeAdmission(projectId, (admission) => {
      const list = admission[kind];
      if (list.includes(id) || (kind === 'projects' && id === projectId))
        throw jobAdmissionRefusal(`Target ${TARGETS[kind]} is already in the job token scope`);
      if (list.length >= LONGEST_LIST)
        throw jobAdmissionRefusal(`The job token scope has ${LONGEST_LIST} ${kind}, which is the limit`);
      return { ...admission, [kind]: [...list, id] };
    });
  }

  /** Errors: Refused for a target that is not in the list, and for the project itself. */
  remove(projectId: number, kind: AdmissionListKind, id: number): Promise<void> {
    return this.changeAdmission(projectId, (admission) => {
      if (kind === 'projects' && id === projectId)
        throw jobAdmissionRefusal('Source project cannot be removed from the job token scope');
      const list = admission[kind];
      if (!list.includes(id)) throw jobAdmissionRefusal(`Target ${TARGETS[kind]} is not in the job token scope`);
      return { ...admission, [kind]: list.filter((one) => one !== id) };
    });
  }

  private changeAdmission(
    projectId: number,
    change: (admission: DirectoryJobAdmission) => DirectoryJobAdmission,
  ): Promise<void> {
    return this.work.run(async (tx) => {
      const [project] = await tx.query<{ job_admission: DirectoryJobAdmission | null }>(
        'select job_admission from projects where id = $1 for no key update',
        [projectId],
      );
      if (!project) throw new NotFound('Project');
      const admission = change(project.job_admission ?? NONE);
      await tx.query('update projects set job_admission = $2::jsonb where id = $1', [
        projectId,
        JSON.stringify(admission),
      ]);
      this.log.recordChange(tx, 'project', projectId);
    });
  }
}

function jobAdmissionRefusal(reason: string): Refused {
  return new Refused(reason);
}
