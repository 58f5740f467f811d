export { testDatabase, type TestDatabase } from './database';
export { PrivateNats, startNats, testNats, testServer } from './servers';
export { DirectorySeed, SEED_EPOCH, type SeededUser } from './directory-seed';
