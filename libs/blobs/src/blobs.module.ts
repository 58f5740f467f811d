import { Module } from '@nestjs/common';
import { BlobStorage } from './blobs';
import { blobsSettings } from './blobs.config';
import { openBlobs } from './open-blobs';

/** `BlobStorage` for a service. Needs `blobsSettings` among the settings of the process. */
@Module({
  providers: [{ provide: BlobStorage, inject: [blobsSettings.token], useFactory: openBlobs }],
  exports: [BlobStorage],
})
export class BlobsModule {}
