import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { UsersModule } from '../users/users.module';
import { PlaceholderUser } from './placeholder-user.entity';
import { PlaceholderUsersController } from './placeholder-users.controller';
import { PlaceholderUsersService } from './placeholder-users.service';

/** Accounts that own what users of other hosts wrote. */
@Owns(PlaceholderUser)
@Module({
  imports: [UsersModule],
  controllers: [PlaceholderUsersController],
  providers: [PlaceholderUsersService],
})
export class PlaceholderUsersModule {}
