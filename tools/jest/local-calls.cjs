/** A setup file: the requests of API specs reach their service as calls within one process (ADR 0199). */
process.env.TEST_TRANSPORT = 'local';
