import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const messagingSettings = defineSettings('messaging', {
  natsUrl: setting.secret('NATS_URL', {
    default: 'nats://127.0.0.1:4222',
    about:
      'Servers of the message bus, comma-separated; the URL may contain a user and password, and `tls://` requires TLS.',
  }),
  natsCaFile: setting.text('NATS_CA_FILE', {
    default: null,
    about: 'CA certificates for the message bus; needed for a private authority.',
  }),
  natsCertFile: setting.text('NATS_CERT_FILE', {
    default: null,
    about: 'Client certificate of this process, if the message bus requires one.',
  }),
  natsKeyFile: setting.text('NATS_KEY_FILE', { default: null, about: 'Key of NATS_CERT_FILE.' }),
  streamReplicasCount: setting.int('NATS_STREAM_REPLICAS_COUNT', {
    default: 1,
    min: 1,
    max: 5,
    about: 'Copies that the bus keeps of each stream; 3 in a cluster.',
  }),
  streamMaxBytes: setting.int('NATS_STREAM_MAX_BYTES', {
    default: -1,
    min: -1,
    about: 'Size at which a stream refuses further events (they wait in the outbox); -1 leaves it to the server.',
  }),
  outboxPollMs: setting.int('OUTBOX_POLL_MS', {
    default: 200,
    min: 10,
    about: 'How often the relay looks for events that another process wrote; after 10 s without any, every 3 s.',
  }),
  outboxBatchCount: setting.int('OUTBOX_BATCH_COUNT', {
    default: 200,
    min: 1,
    max: 1000,
    about: 'Events that the relay publishes and marks at once.',
  }),
  outboxRetentionDays: setting.int('OUTBOX_RETENTION_DAYS', {
    default: 7,
    min: 1,
    about: 'How long published events are kept for `republish`.',
  }),
  inboxRetentionDays: setting.int('INBOX_RETENTION_DAYS', {
    default: 14,
    min: 1,
    about: 'How long processed events are remembered for each effect; at least 7 more than OUTBOX_RETENTION_DAYS.',
  }),
  consumerBatchCount: setting.int('CONSUMER_BATCH_COUNT', {
    default: 64,
    min: 1,
    max: 128,
    about: 'Most events whose effects are committed together.',
  }),
  consumerRetryDelaysMs: setting.list('CONSUMER_RETRY_DELAYS_MS', {
    default: ['1000', '5000', '30000', '120000', '600000', '600000', '600000'],
    about: 'Delays before the second, third … try of an event whose effect fails; after the last it is a dead letter.',
  }),
  deadLetterPollMs: setting.int('DEAD_LETTER_POLL_MS', {
    default: 10_000,
    min: 10,
    about: 'How often a worker looks for dead letters that an operator wants replayed.',
  }),
});
export type MessagingSettings = SettingsOf<typeof messagingSettings>;
