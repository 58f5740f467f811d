export { testDatabase, type TestDatabase } from './database';
export { PrivateNats, startNats, testNats, testServer } from './servers';
