import { Module } from '@nestjs/common';
import { DirectoryModule } from '../directory/directory.module';
import { AvatarsController } from './avatars.controller';
import { AvatarsQueries } from './avatars.queries';
import { AvatarsService } from './avatars.service';

/** Pictures of users, groups, projects and topics. */
@Module({
  imports: [DirectoryModule],
  controllers: [AvatarsController],
  providers: [AvatarsService, AvatarsQueries],
  exports: [AvatarsService],
})
export class AvatarsModule {}
