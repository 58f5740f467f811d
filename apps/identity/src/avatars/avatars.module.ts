import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { Avatar } from './avatar.entity';
import { AvatarsController } from './avatars.controller';
import { AvatarsQueries } from './avatars.queries';
import { AvatarsService } from './avatars.service';

/** Avatars of users, groups, projects and topics. */
@Owns(Avatar)
@Module({
  imports: [DirectoryModule],
  controllers: [AvatarsController],
  providers: [AvatarsService, AvatarsQueries],
  exports: [AvatarsService],
})
export class AvatarsModule {}
