import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../packages/packages.module';
import { ImportAttachmentsController } from './import-attachments.controller';
import { Upload } from './upload.entity';
import { UploadsController } from './uploads.controller';
import { UploadsService } from './uploads.service';

const attachedUploads = declareAttachedTable({
  table: 'uploads',
  project: 'project_id',
  stays: { uploader_id: 'No answer shows it, and the id of a deleted user is not given again.' },
});

/** Files that users attach to texts of projects, and those that imports bring. */
@Owns(Upload)
@Attaches(attachedUploads)
@Module({
  imports: [PackagesModule],
  controllers: [ImportAttachmentsController, UploadsController],
  providers: [UploadsService],
})
export class UploadsModule {}
