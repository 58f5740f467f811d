export { testDatabase, type TestDatabase } from './database';
export { PrivateNats, startNats, testNats, testServer } from './servers';
export { DirectorySeed, SEED_EPOCH, type SeededUser } from './directory-seed';
export { startTestApp, TEST_INTERNAL_SECRET, type TestApp, type TestAppOptions } from './app';
export { bracketPairs, TestClient, TestRequest, type Method, type Params, type TestResponse } from './client';
export {
  cutOf,
  expectGolden,
  nodesOf,
  planOf,
  readRows,
  shapeOf,
  TakenStatements,
  type PlanNode,
  type Statement,
  vacuumed,
} from './plans';
export { noteRoute, writeRouteTests } from './route-tests';
export { aViewer, anonymousViewer } from './viewer';
export { foreignId } from './suites/foreign-id';
export { linksOf, paging } from './suites/paging';
export { parameterEncodings } from './suites/parameter-encodings';
export { refusalOrder } from './suites/refusal-order';
export { tokenScopes } from './suites/token-scopes';
export { visibility, type Standing } from './suites/visibility';
