export { DirectoryModule } from './directory.module';
export { Directory, SETTLED_MS } from './directory';
export type { DirectoryUserRow, ProjectFacts } from './directory-rows';
export { directoryMigrations } from './directory.migrations';
export { groupLevelSql, projectLevelSql } from './level-sql';
export type { GroupLevel, LevelTables, ProjectLevel } from './level-sql';
export { visibleGroupSql, visibleProjectSql, withinGroupSql } from './visibility-sql';
export type { VisibleProject } from './visibility-sql';
export { absoluteUrl, userSummary, userSummarySql } from './user-summary';
