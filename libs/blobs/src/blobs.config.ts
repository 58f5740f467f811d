import { defineSettings, setting } from '@rookery/platform';

const KEY_ID = 'AWS_ACCESS_KEY_ID';

export const blobsSettings = defineSettings('blobs', {
  url: setting.text('BLOBS_URL', {
    about:
      'Place of uploaded files: an absolute path, `file:///path`, or `s3://bucket/prefix?endpoint=https://host&region=name&forcePathStyle=true`, where the prefix and all parameters may be omitted.',
  }),
  accessKeyId: setting.secret(KEY_ID, {
    default: null,
    about: 'Access key of the bucket. Without it, the credentials of the machine or pod are used.',
  }),
  secretAccessKey: setting.secret('AWS_SECRET_ACCESS_KEY', {
    default: null,
    about: `Secret of ${KEY_ID}.`,
  }),
  sessionToken: setting.secret('AWS_SESSION_TOKEN', {
    default: null,
    about: `Session token of a temporary ${KEY_ID}.`,
  }),
});
