import { Global, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { readSettings, pickSettings } from '@rookery/platform';
import { BlobStorage } from './blobs';
import { blobsSettings } from './blobs.config';
import { BlobsModule } from './blobs.module';
import { parseBlobsUrl } from './blobs-url';
import { openBlobs } from './open-blobs';

describe('BLOBS_URL', () => {
  it.each([
    ['/var/lib/rookery/blobs', { kind: 'disk', root: '/var/lib/rookery/blobs' }],
    ['file:///var/lib/rookery%20files', { kind: 'disk', root: '/var/lib/rookery files' }],
    [
      's3://bucket',
      { kind: 's3', bucket: 'bucket', prefix: '', endpoint: null, region: 'us-east-1', forcePathStyle: false },
    ],
    [
      's3://my.bucket/a/b_c/?endpoint=https://s3.example:9000&region=eu-west-1&forcePathStyle=true',
      {
        kind: 's3',
        bucket: 'my.bucket',
        prefix: 'a/b_c/',
        endpoint: 'https://s3.example:9000',
        region: 'eu-west-1',
        forcePathStyle: true,
      },
    ],
  ])('%s is understood', (text, place) => {
    expect(parseBlobsUrl(text)).toEqual(place);
  });

  it.each([
    ['blobs', 'is not an absolute path, a file URL or an s3 URL'],
    ['https://s3.example/bucket', 'is not an absolute path, a file URL or an s3 URL'],
    ['file://host/blobs', 'has more than a path in its file URL'],
    ['s3://key:canary@bucket', 'holds credentials, which have settings of their own'],
    ['s3://', 'does not name a bucket'],
    ['s3://Bucket_', 'does not name a bucket'],
    ['s3://bucket/a%20b', 'has a prefix with characters other than letters, digits, dots, dashes and slashes'],
    ['s3://bucket?endpiont=x', 'has a parameter other than endpoint, region, forcePathStyle'],
    ['s3://bucket?endpoint=s3.example', 'has an endpoint that is not an http or https URL'],
    ['s3://bucket?forcePathStyle=yes', 'has a forcePathStyle that is neither true nor false'],
  ])('%s is refused', (text, message) => {
    expect(() => parseBlobsUrl(text)).toThrow(new Error(message));
  });
});

describe('the settings', () => {
  const settings = { url: 's3://bucket', accessKeyId: null, secretAccessKey: null, sessionToken: null };

  it('need both halves of a key, or none', () => {
    expect(openBlobs(settings)).toBeInstanceOf(BlobStorage);
    expect(openBlobs({ ...settings, accessKeyId: 'a', secretAccessKey: 'b' })).toBeInstanceOf(BlobStorage);
    expect(() => openBlobs({ ...settings, accessKeyId: 'a' })).toThrow(/^BLOBS_URL needs both of AWS_ACCESS_KEY_ID/);
  });

  it('reach a service through its module', async () => {
    const useValue = pickSettings(
      readSettings([blobsSettings], { BLOBS_URL: '/var/lib/rookery/blobs' }),
      blobsSettings,
    );
    const provider = { provide: blobsSettings.token, useValue };
    @Global()
    @Module({ providers: [provider], exports: [provider] })
    class Settings {}
    const service = await Test.createTestingModule({ imports: [Settings, BlobsModule] }).compile();
    expect(service.get(BlobStorage)).toBeInstanceOf(BlobStorage);
    await service.close();
  });

  it('name the setting that is wrong', () => {
    expect(() => openBlobs({ ...settings, url: 'ftp://x' })).toThrow(/^BLOBS_URL is not an absolute path/);
  });
});
