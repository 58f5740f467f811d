/**
 * Starts one PostgreSQL and one nats-server before all tests, unless they run (tools/servers/test-servers.mjs). Tests read
 * their addresses from the environment, which jest passes to its workers.
 */
module.exports = async () => {
  const { ensureTestServers } = await import('../servers/test-servers.mjs');
  const servers = await ensureTestServers();
  process.env['TEST_POSTGRES_URL'] = servers.postgresUrl;
  process.env['TEST_NATS_URL'] = servers.natsUrl;
  if (servers.natsProgram) process.env['TEST_NATS_PROGRAM'] = servers.natsProgram;
};
