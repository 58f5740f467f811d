import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { planningPolicy } from '../../base/noteables/planning.policy';
import { labelOrMilestoneAppliesSql } from '../../base/noteables/reach-sql';
import { PROJECT_PATH } from '../../planning/milestones/milestone.shape';
import { releaseMilestoneShape } from './release-milestone.shape';

/** Reads the milestones of releases. Source: reference repositories 7.1. */
@Injectable()
export class ReleaseMilestonesQueries {
  private readonly milestonesOf;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const shown = releaseMilestoneShape.toSql({ externalUrl, projectPath: PROJECT_PATH });
    const above = ':above::bigint[]';
    this.milestonesOf = statement<
      { ids: readonly number[]; above: readonly number[] },
      { release_id: number; json: string }
    >(
      'releases_milestones',
      () => `select r.id as release_id,
          '[' || string_agg(${shown.sql}, ',' order by m.due_on, m.title, m.id) || ']' as json
        from releases r join release_milestones rm on rm.release_id = r.id join milestones m on m.id = rm.milestone_id
        where r.id = any(:ids::bigint[]) and ${labelOrMilestoneAppliesSql('m', { project: 'r.project_id', above })}
        group by r.id`,
    );
  }

  /** Returns the milestones of releases as JSON texts by release, nothing if the viewer may not see milestones. */
  async listByRelease(
    { project, viewer }: { readonly project: ProjectScope; readonly viewer: Viewer },
    ids: readonly number[],
  ): Promise<ReadonlyMap<number, string>> {
    if (ids.length === 0 || !planningPolicy.mayRead(viewer, project)) return new Map();
    const rows = await this.database.run(this.milestonesOf, { ids, above: project.namespace.traversalIds });
    return new Map(rows.map(({ release_id: id, json }) => [id, json]));
  }
}
