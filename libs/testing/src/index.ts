export { documentChecker } from './answer-schemas';
export { effectsWaiter, publishEvent, until } from './bus';
export { testDatabase, untilBlocked, type TestDatabase } from './database';
export { testDatabaseWithRoles, type TestDatabaseWithRoles } from './database-roles';
export { FaultProxy } from './fault-proxy';
export { expectEntitiesToMatchSchema, schemaDifferences } from './entities';
export { unusedPort } from './ports';
export { PrivateNats, startNats, testNats, testServerUrl } from './servers';
export { DirectorySeed, SEED_EPOCH, type SeededUser } from './directory-seed';
export { startSeededService, type SeededService } from './seeded-service';
export { internalAuthorization, testInternalKeys } from './internal-keys';
export { startTestApp, testSettings, type TestApp, type TestAppOptions } from './app';
export { requestOf, type Method, type Params } from './agent';
export {
  limitNodeOf,
  expectPlan,
  nodesOf,
  hasCustomPlans,
  planOf,
  countReadRows,
  shapeOf,
  statementOf,
  type Planned,
  type PlanNode,
  type Statement,
  vacuumUntilVisible,
} from './plans';
export { recordTestedRoute, writeRouteTestCounts } from './route-tests';
export { makeViewer, anonymousViewer } from './viewer';
export { expectAttachmentsToCoverSchema } from './attachments';
export { registerBackgroundWorkTests } from './suites/background';
export { registerForeignParentTests } from './suites/foreign-id';
export { registerProjectDeletionTests } from './suites/deleted-with-projects';
export { registerIdempotentWriteTests, type NamedWrite } from './suites/keyed-writes';
export { linksOf, registerListPagingTests } from './suites/paging';
export { registerParameterEncodingTests } from './suites/parameter-encodings';
export { registerRefusalOrderTests } from './suites/refusal-order';
export {
  MATRIX_MEMBERS,
  MATRIX_VISIBILITIES,
  registerRoleMatrixTests,
  type MatrixRole,
  type MatrixVisibility,
} from './suites/role-matrix';
export { registerServiceRoleTests } from './suites/service-role';
export { registerTokenScopeTests } from './suites/token-scopes';
export { registerVisibilityTests, type RoleCase } from './suites/visibility';
export { registerNumberLimitTests } from './suites/whole-numbers';
export { expectGolden, expectGoldenSql } from './golden';
export { expectSchemaKeys } from './schema-keys';
export { signViewerContext } from './agent';
export { GitClient } from './git-client';
export type { Ran } from './git-client';
export { serveGit } from './upstream/git-backend';
export { RepohostCloud, type CloudRepository } from './upstream/repohost-cloud';
export { RepohostServer, type ServerRepository } from './upstream/repohost-server';
export {
  RemoteHost,
  type HostedFile,
  type HostedGist,
  type HostedList,
  type HostedRepository,
} from './upstream/remote-host';
