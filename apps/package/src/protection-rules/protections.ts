import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { InstanceSettings } from '@rookery/instance';
import { ACCESS_LEVELS, Forbidden } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { matchesPackageNamePattern } from './package-name-pattern';
import type { DeleteLevel, PushLevel } from './protection-rule.entity';

interface ProtectionRuleRow {
  readonly pattern: string;
  readonly push: PushLevel | null;
  readonly remove: DeleteLevel | null;
}

const RULES = statement<{ project: number; type: string }, ProtectionRuleRow>(
  'protection_rules_of_type',
  `select package_name_pattern as pattern, minimum_access_level_for_push as push,
     minimum_access_level_for_delete as remove
   from protection_rules where project_id = :project::bigint and package_type = :type`,
);

const LEVELS: Readonly<Record<PushLevel | DeleteLevel, number>> = {
  maintainer: ACCESS_LEVELS.maintainer,
  owner: ACCESS_LEVELS.owner,
  admin: Infinity,
};

/**
 * Enforces protection rules. Administrators of the instance always pass. Another caller needs the highest level of all
 * rules whose pattern matches the name. Source: reference packages-and-admin 4.2, 5.
 */
@Injectable()
export class PackageProtections {
  constructor(
    private readonly database: Database,
    private readonly instance: InstanceSettings,
  ) {}

  /** Errors: Forbidden `Package protected.` */
  async refusePush(project: ProjectScope, viewer: Viewer, type: string, name: string): Promise<void> {
    const required = await this.requiredLevel(project, viewer, type, name, ({ push }) => push);
    if (required > project.level) throw new Forbidden('Package protected.');
  }

  /** Has no effect while the feature `packages_protected_packages_delete` is off. Errors: Forbidden. */
  async refuseDelete(project: ProjectScope, viewer: Viewer, type: string, name: string): Promise<void> {
    if (!this.instance.isOn('packages_protected_packages_delete', { viewer, projectId: project.id })) return;
    const required = await this.requiredLevel(project, viewer, type, name, ({ remove }) => remove);
    if (required > project.level) throw new Forbidden('Package is deletion protected.');
  }

  private async requiredLevel(
    { id }: ProjectScope,
    viewer: Viewer,
    type: string,
    name: string,
    levelOf: (rule: ProtectionRuleRow) => PushLevel | DeleteLevel | null,
  ): Promise<number> {
    if (viewer.isAdmin) return 0;
    const rules = await this.database.run(RULES, { project: id, type });
    const levels = rules.filter(({ pattern }) => matchesPackageNamePattern(pattern, name, type)).map(levelOf);
    return Math.max(0, ...levels.map((level) => (level === null ? 0 : LEVELS[level])));
  }
}
