/**
 * Before any test: one PostgreSQL and one nats-server, started or found running (tools/estate/test-servers.mjs).
 * Tests read their addresses from the environment, which jest hands to its workers.
 */
module.exports = async () => {
  const { ensureTestServers } = await import('../estate/test-servers.mjs');
  const servers = await ensureTestServers();
  process.env.TEST_POSTGRES_URL = servers.postgresUrl;
  process.env.TEST_NATS_URL = servers.natsUrl;
  if (servers.natsProgram) process.env.TEST_NATS_PROGRAM = servers.natsProgram;
};
