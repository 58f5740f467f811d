export { documentJudge } from './answer-schemas';
export { drains, publishEvent, until } from './bus';
export { testDatabase, untilBlocked, type TestDatabase } from './database';
export { FaultProxy } from './fault-proxy';
export { expectEntitiesToMatchSchema, schemaDifferences } from './entities';
export { quietPort } from './ports';
export { PrivateNats, startNats, testNats, testServer } from './servers';
export { DirectorySeed, SEED_EPOCH, type SeededUser } from './directory-seed';
export { startSeeded, type SeededService } from './seeded-service';
export { internalAuthorization, testInternalKeys } from './internal-keys';
export { startTestApp, testSettings, type TestApp, type TestAppOptions } from './app';
export { requestOf, type Method, type Params } from './agent';
export {
  cutOf,
  expectPlan,
  nodesOf,
  plannedAnew,
  planOf,
  readRows,
  shapeOf,
  statementOf,
  type Planned,
  type PlanNode,
  type Statement,
  vacuumed,
} from './plans';
export { noteRoute, writeRouteTests } from './route-tests';
export { aViewer, anonymousViewer } from './viewer';
export { expectAttachmentsToCoverSchema } from './attachments';
export { background } from './suites/background';
export { foreignId } from './suites/foreign-id';
export { goneWithProjects } from './suites/gone-with-projects';
export { keyedWrites, type NamedWrite } from './suites/keyed-writes';
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
export { tokenScopes } from './suites/token-scopes';
export { visibility, type Standing } from './suites/visibility';
export { wholeNumbers } from './suites/whole-numbers';
export { expectGolden, expectGoldenSql } from './golden';
