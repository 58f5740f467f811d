import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { AvatarsModule } from '../avatars/avatars.module';
import { DirectoryModule } from '../directory/directory.module';
import { NamespacesModule } from '../namespaces/namespaces.module';
import { AddressesService } from './addresses/addresses.service';
import { Email } from './addresses/email.entity';
import { UnconfirmedAddressesJob } from './addresses/unconfirmed-addresses.job';
import { BotExternalFlagService } from './bot-external-flag';
import { GhostUser } from './ghost-user';
import { UserChangesController } from './changing/user-changes.controller';
import { UserChangesService } from './changing/user-changes.service';
import { UserMembershipsController } from './memberships/user-memberships.controller';
import { UserMembershipsQueries } from './memberships/user-memberships.queries';
import { LastAdministratorCheck } from './states/administrators';
import { UserStatesController } from './states/user-states.controller';
import { UserStatesService } from './states/user-states.service';
import { UserChangeLog } from './user-change-log';
import { UserRows } from './user-rows';
import { Identity, User } from './user.entity';
import { UsersController } from './users.controller';
import { UsersQueries } from './users.queries';
import { UsersService } from './users.service';

/** Users and bots: creating, changing, blocking and unblocking them. */
@Owns(Email, Identity, User)
@Module({
  imports: [AvatarsModule, DirectoryModule, NamespacesModule],
  controllers: [UsersController, UserChangesController, UserMembershipsController, UserStatesController],
  providers: [
    UsersQueries,
    UsersService,
    UserChangesService,
    UserChangeLog,
    UserRows,
    BotExternalFlagService,
    GhostUser,
    UnconfirmedAddressesJob,
    AddressesService,
    UserStatesService,
    LastAdministratorCheck,
    UserMembershipsQueries,
  ],
  exports: [
    BotExternalFlagService,
    GhostUser,
    UsersQueries,
    UsersService,
    UserRows,
    UserChangeLog,
    AddressesService,
    LastAdministratorCheck,
  ],
})
export class UsersModule {}
