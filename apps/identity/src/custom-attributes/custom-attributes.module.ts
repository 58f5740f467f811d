import { Module } from '@nestjs/common';
import {
  GroupCustomAttributesController,
  ProjectCustomAttributesController,
  UserCustomAttributesController,
} from './custom-attributes.controller';
import { CustomAttributesService } from './custom-attributes.service';

/** Texts by key that administrators attach to users, groups and projects. */
@Module({
  controllers: [UserCustomAttributesController, GroupCustomAttributesController, ProjectCustomAttributesController],
  providers: [CustomAttributesService],
})
export class CustomAttributesModule {}
