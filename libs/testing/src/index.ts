export { documentChecker } from './answer-schemas';
export { effectsWaiter, publishEvent, until } from './bus';
export { testDatabase, untilBlocked, type TestDatabase } from './database';
export { testDatabaseWithRoles, type TestDatabaseWithRoles } from './database-roles';
export { FaultProxy } from './fault-proxy';
export { expectEntitiesToMatchSchema, schemaDifferences } from './entities';
export { unusedPort } from './ports';
export { PrivateNats, startNats, testNats, testServer } from './servers';
export { DirectorySeed, SEED_EPOCH, type SeededUser } from './directory-seed';
export { startSeeded, type SeededService } from './seeded-service';
export { internalAuthorization, testInternalKeys } from './internal-keys';
export { startTestApp, testSettings, type TestApp, type TestAppOptions } from './app';
export { requestOf, type Method, type Params } from './agent';
export {
  limitNodeOf,
  expectPlan,
  nodesOf,
  hasCustomPlans,
  planOf,
  readRows,
  shapeOf,
  statementOf,
  type Planned,
  type PlanNode,
  type Statement,
  vacuumUntilVisible,
} from './plans';
export { noteRoute, writeRouteTests } from './route-tests';
export { makeViewer, anonymousViewer } from './viewer';
export { expectAttachmentsToCoverSchema } from './attachments';
export { background } from './suites/background';
export { foreignId } from './suites/foreign-id';
export { deletedWithProjects } from './suites/deleted-with-projects';
export { idempotentWrites, type NamedWrite } from './suites/keyed-writes';
export { linksOf, paging } from './suites/paging';
export { parameterEncodings } from './suites/parameter-encodings';
export { refusalOrder } from './suites/refusal-order';
export {
  MATRIX_MEMBERS,
  MATRIX_VISIBILITIES,
  roleMatrix,
  type MatrixRole,
  type MatrixVisibility,
} from './suites/role-matrix';
export { serviceRole } from './suites/service-role';
export { tokenScopes } from './suites/token-scopes';
export { visibility, type RoleCase } from './suites/visibility';
export { wholeNumbers } from './suites/whole-numbers';
export { expectGolden, expectGoldenSql } from './golden';
export { expectSchemaKeys } from './schema-keys';
export { contextOf } from './agent';
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
