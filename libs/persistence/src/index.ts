export { runHedged } from './connections/run-hedged';
export { databaseSettingsFor } from './connections/database.config';
export type { DatabaseSettings } from './connections/database.config';
export { PersistenceModule } from './persistence.module';
export { entitiesOfModuleTree as entitiesOf, Owns } from './schema/owned-entities';
export { attachedTablesIn, Attaches, refuseUnreachableAttachments } from './removal/attached-in';
export { declareAttachedTable } from './removal/attached-to';
export type {
  AttachedRows,
  AttachedTable,
  DeletedKind,
  DeletedNoteables,
  DepartureStep,
  UserColumn,
} from './removal/attached-to';
export { DEPARTURE_CHUNK, REMOVAL_CHUNK, runInChunks } from './removal/chunks';
export { Database } from './work/database';
export type { SqlReader } from './work/database';
export { requireRowsInTimeSql } from './work/last-statement';
export type { LastStatement } from './work/last-statement';
export { activeTraceparent } from './work/outbox';
export { Work } from './work/work';
export type { Tx } from './work/work';
export { isUsualPage, CachedStatements, prepareStatement } from './sql/prepared';
export type { PreparedStatement, Statement } from './sql/prepared';
export { statement } from './sql/statement';
export type { DeclaredStatement } from './sql/statement';
export { restoreParameterNames } from './sql/named-parameters';
export type { NamedValues } from './sql/named-parameters';
export { likePattern, filter, toStatement, similarityOrderSql, containsSql, searchCondition } from './sql/conditions';
export type { AllFilters, Bind, Condition, SqlDraft, Filter, Filters, Values } from './sql/conditions';
export { ListQuery } from './lists/list-query';
export type { JsonParts, JsonRows, ListParts, OrderTerm, Sort, Source } from './lists/list-parts';
export { instantSql } from './sql/row-values';
export { asProperties } from './sql/row-of';
export type { RowOf } from './sql/row-of';
export { SnakeNaming } from './sql/naming';
export { dropInternalIds, nextInternalId, raiseInternalId } from './work/internal-ids';
export { HISTORY } from './work/history';
export { HeadWatch } from './work/head-watch';
export type { LogHead } from './work/head-watch';
export { Inbox } from './work/inbox';
export { defineCollection, Collection } from './lists/collection';
export type { WriteContext, CollectionDefinition, CollectionOptions, ListRequest, RowKey } from './lists/collection';
export type { Parent, Parents, Within } from './lists/parents';
export { isDatabaseAway, isTooLongForIndex, violatesConstraint } from './sql/failures';
export { createMigrateStep, pendingMigrations, runMigrations } from './schema/migrate';
export type { MigrationClass } from './schema/migrate';
export { DeadLetter, OutboxEntry, plumbingEntities } from './schema/plumbing.entities';
export { plumbingMigrations } from './schema/plumbing.migrations';
export { DeadLetters } from './dead-letters/dead-letters';
export type { JobLetter, Letter, LetterRow } from './dead-letters/dead-letters';
export { deadLetterCommands } from './dead-letters/dead-letter.commands';
