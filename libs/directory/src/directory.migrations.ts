import type { MigrationClass } from '@rookery/persistence';
import { CreateDirectory1767225510000 } from './migrations/1767225510000-create-directory';
import { AddMentionsDisabledToDirectory1767225840000 } from './migrations/1767225840000-add-mentions-disabled-to-directory';
import { AddFeatureLevelsToDirectory1767226100000 } from './migrations/1767226100000-add-feature-levels-to-directory';
import { TellHistoriesApart1767226300000 } from './migrations/1767226300000-tell-histories-apart';
import { TellHomesOfBots1767226400000 } from './migrations/1767226400000-tell-homes-of-bots';
import { AddMergeSettingsToDirectory1767226500000 } from './migrations/1767226500000-add-merge-settings-to-directory';
import { AddArchivedGroupsToDirectory1767226600000 } from './migrations/1767226600000-add-archived-groups-to-directory';
import { AddForksToDirectory1767226600100 } from './migrations/1767226600100-add-forks-to-directory';
import { AddFirstCommitsToDirectory1767226600202 } from './migrations/1767226600202-add-first-commits-to-directory';
import { AddJobAdmissionToDirectory1767226600200 } from './migrations/1767226600200-add-job-admission-to-directory';
import { AddBranchProtectionToDirectory1767226600210 } from './migrations/1767226600210-add-branch-protection-to-directory';

/** Migrations for the tables of the copy. Every service except identity adds them to its own migrations. */
export const directoryMigrations: readonly MigrationClass[] = [
  CreateDirectory1767225510000,
  AddMentionsDisabledToDirectory1767225840000,
  AddFeatureLevelsToDirectory1767226100000,
  TellHistoriesApart1767226300000,
  TellHomesOfBots1767226400000,
  AddMergeSettingsToDirectory1767226500000,
  AddArchivedGroupsToDirectory1767226600000,
  AddForksToDirectory1767226600100,
  AddJobAdmissionToDirectory1767226600200,
  AddFirstCommitsToDirectory1767226600202,
  AddBranchProtectionToDirectory1767226600210,
];
