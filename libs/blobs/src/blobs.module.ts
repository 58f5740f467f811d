import { Module } from '@nestjs/common';
import { Blobs } from './blobs';
import { blobsSettings } from './blobs.config';
import { openBlobs } from './open-blobs';

/** `Blobs` for a service. Needs `blobsSettings` among the settings of the process. */
@Module({
  providers: [{ provide: Blobs, inject: [blobsSettings.token], useFactory: openBlobs }],
  exports: [Blobs],
})
export class BlobsModule {}
