import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { EmailsModule } from '../emails/emails.module';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { GroupServiceAccountsController } from './group-service-accounts.controller';
import { InstanceServiceAccountsController } from './instance-service-accounts.controller';
import { ServiceAccountChangesService } from './service-account-changes.service';
import { ServiceAccount } from './service-account.entity';
import { ServiceAccountsQueries } from './service-accounts.queries';
import { ServiceAccountsService } from './service-accounts.service';
import { ServiceAccountTokensController } from './tokens/service-account-tokens.controller';

/** Bots of groups or of the whole instance, with access tokens of their own. */
@Owns(ServiceAccount)
@Module({
  imports: [EmailsModule, TokensModule, UsersModule],
  controllers: [GroupServiceAccountsController, InstanceServiceAccountsController, ServiceAccountTokensController],
  providers: [ServiceAccountsQueries, ServiceAccountsService, ServiceAccountChangesService],
  exports: [ServiceAccountsQueries, ServiceAccountsService],
})
export class ServiceAccountsModule {}
